# Почему повтор не засчитан или не измерен. Слова программы, если она что-то сказала, идут следом после двоеточия.

cause-steal = гипервизор отнял { PERCENT($share) } процессорного времени машины
cause-foreign-cpu = посторонние программы заняли { PERCENT($share) } процессорного времени машины
cause-steal-of-host = гипервизор отнял { PERCENT($share) } процессорного времени хоста
cause-foreign-cpu-of-host = посторонние программы заняли { PERCENT($share) } процессорного времени хоста
cause-clock-fell = за время работы частота упала на { PERCENT($share) }: с { GIGAHERTZ($before_hz) } до { GIGAHERTZ($after_hz) } ГГц
cause-swapping = подкачка: { $pages ->
    [one] { $pages } страница
    [few] { $pages } страницы
   *[other] { $pages } страниц
}
cause-throttling = троттлинг из-за нагрева: { $times ->
    [few] { $times } раза
   *[other] { $times } раз
}

cause-work-wrong = работа сделана неверно
cause-work-unverified = работа не проверена; если её нельзя проверить, укажите verification = "none"
cause-metric-missing = инструмент не сообщил данных, нужных для показателя «{ $metric }» ({ $value })
cause-partner-missing = парный повтор другой стороны не засчитан

cause-fault-too-late = нагрузка закончилась раньше, чем «{ $fault }» в { $at }; увеличьте её длительность или перенесите отказ на более раннее время
cause-fault-failed = «{ $fault }» не удалось
cause-scrub-errors = проверка диска { $disk } нашла неисправимые ошибки: { $errors }
cause-scrub-failed = диск { $disk } не удалось проверить
cause-disk-not-mended = диск { $disk } не восстановлен за { $limit }
cause-rebuild-failed = диск { $disk } не удалось восстановить, попыток: { $tries }
cause-rebuild-full = диск { $disk } не удалось восстановить, попыток: { $tries }: нет места; btrfs нужно на каждом диске место, не занятое LUN: уменьшите LUN
cause-disk-not-renewed = диск, который был диском { $disk }, нельзя использовать снова
cause-errors-unread = не удалось прочесть счётчики ошибок диска { $disk }
cause-moment-unknown = машина не сообщила, когда произошло «{ $fault }»
cause-server-ended = сервер { $server } тем временем завершился
cause-server-not-made = сервер { $server } не удалось подготовить и запустить
cause-pool-down = пул не удалось поднять снова
cause-remains-unread = не удалось прочесть то, что осталось от пула: { $why }

cause-timed-out = не завершился за { $limit } и был остановлен
cause-timed-out-alive = не завершился за { $limit }, и остановить его не удалось
cause-exited = завершился с кодом { $status }
cause-killed = убит сигналом { $signal }
cause-end-unknown = неизвестно, чем завершился
cause-misused = запущен неверно (код 2)
cause-guard-died = программа-сторож погибла
cause-link-dropped = связь оборвалась, или программа-сторож на той машине погибла
cause-files-unwritten = не удалось записать его файлы
cause-parameters = параметры не приняты
cause-rate-unknown = темп задан долей от «{ $of }», а там нет годных повторов

cause-too-many-lines = напечатано больше { $most } строк
cause-too-much-printed = напечатано больше { $most_mib } МиБ
cause-too-many-marks = напечатано больше { $most } событий «mark»
cause-too-many-tests = больше { $most } тестов
cause-no-event = напечатана строка, которая не является событием
cause-second-begin = напечатано второе событие «begin»
cause-no-begin = не напечатано событие «begin», с которого начинает инструмент; время любой другой программы измеряет instrument = "time"
cause-no-repeat = не напечатано событие «repeat»
cause-many-repeats = напечатано событий «repeat»: { $count }; stend нужно одно за запуск
cause-no-end = не напечатано событие «end»
cause-latencies-wrong = задержки в событии «repeat» неверны

cause-tool-exited = { $tool } завершился с кодом { $status }
cause-tool-killed = { $tool } убит сигналом { $signal }
cause-tool-timed-out = { $tool } остановлен: время вышло
cause-tool-end-unknown = неизвестно, чем завершился { $tool }
cause-tool-line = { $output }: непонятная строка
cause-fio-report-cut = отчёт fio обрывается или не является JSON ({ $error })
cause-fio-report-other = отчёт fio не такой, как ожидалось ({ $error })
cause-fio-report-missing = fio не написал отчёта
cause-fio-groups = в отчёте fio групп заданий { $count } вместо { $wanted }
cause-fio-job-failed = задание fio «{ $job }» не удалось: код ошибки { $error }{ $errors ->
    [0] {""}
   *[other] , ошибок: { $errors }
}
cause-fio-idle = fio не выполнил ни одной операции
cause-fio-figure = по отчёту fio «{ $name }» равно { $figure }: недопустимое значение
cause-fio-luns-read = fio прочёл повторно { $count } LUN вместо { $wanted }
cause-fio-bytes-read = в { $job } fio пытался прочесть { $tried } байт из { $wanted }, а отчитался за { $accounted }
cause-fio-file-missing = fio не записал { $file }
cause-openssl-processes = openssl speed считал в { $count } процессах вместо { $wanted }
cause-openssl-count = openssl speed насчитал операций: { $operations } за { $seconds } с из { $wanted } с
cause-tool-untimed = { $tool } не занимает никакого времени: программа-сторож его не измерила
cause-tests-cut = набор тестов не дошёл до конца
cause-no-tests = набор не сообщил ни об одном тесте
cause-not-read-again = { $tool } не читает обратно записанное

cause-unasked = машину не удалось опросить
cause-asked-in-part = скрипт, который опрашивает машину, завершился раньше времени
cause-not-there = нет { $file }
cause-not-readable = { $file } не разрешено читать
cause-unread = не читается { $file }
cause-silent = этого нет в { $sources }
cause-uncounted = { $source } здесь ничего не считает
cause-none-on-path = в PATH машины нет ни одной из программ: { $tools }

cause-removable = съёмный, так что частью машины не считается

cause-begin-unknown = нагрузка не сообщила, когда началась
cause-not-read-around = { $metric }: отсчёты не доходят до начала и конца нагрузки
cause-cpu-time-unread = процессорное время { $of } не читалось
cause-too-few-windows = перед отказом слишком мало окон нагрузки
cause-not-back = нагрузка не восстановилась до своего конца
cause-clock-set = пока работал fio, часы машины переведены примерно на { $seconds } с
cause-no-window = в журналах fio нет ни одного окна в { $window }
cause-own-report-too-large = в нём { $mib } МиБ, а хранится не больше { $most_mib } МиБ

cause-tool-too-old = { $tool } слишком старой версии: «{ $version }», нужна { $needed }
cause-tool-version-unknown = { $tool } не сообщает версию («{ $version }»), нужна { $needed }
cause-engine-missing = у здешнего fio нет движка «{ $engine }» (какие есть, скажет fio --enghelp)
cause-algorithm-missing = здешний openssl не выполняет { $algorithm }: { $said }
cause-no-block-device = каталог файлов прогона лежит на { $source }, а это не блочное устройство
cause-processors-missing = нужно процессоров: { $needed }, а у машины работает { $online }
cause-parameter-lacking = нет параметра «{ $parameter }», который задаёт одна из сторон
cause-not-native = это не собственный инструмент stend, а стороны различаются сборкой таких инструментов
cause-not-on-target = сценарий не нагружает хранилище, а стороны различаются именно им
cause-faults-need-lab = отказы возможны только при связи с лабораторией
cause-server-needs-lab = серверы возможны только при связи с лабораторией
cause-no-network-to-host = сервер сценария работает на хосте, а у гостевой системы нет сети до хоста; нужна network = "tap"
cause-tools-need-lab = для сторонних программ нужна связь с лабораторией: она разбирает их вывод

cause-tool-missing = программы { $tool } нет в PATH машины
cause-tool-forbidden = { $tool } здесь запрещён
cause-tool-broken = { $tool } здесь не работает
cause-tool-silent = { $tool } ничего не зафиксировал
cause-kernel-unseen = perf не может профилировать ядро (kernel.perf_event_paranoid: { $level })
cause-kernel-nameless = ядро скрывает имена своих функций (kernel.kptr_restrict: { $level })

# На что потеряны повторы.

note-lost = { $run }: не засчитано измеренных повторов: { $repeats } из { $of } ({ $to })
lost-steal = отнятое время: { $count }
lost-foreign-cpu = посторонние программы: { $count }
lost-clock-fell = падение частоты: { $count }
lost-swapping = подкачка: { $count }
lost-throttling = троттлинг: { $count }
lost-work = неверная или непроверенная работа: { $count }
lost-partner = нет второго в паре: { $count }
lost-failure = отказ инструмента: { $count }
lost-other = другие причины: { $count }

# Какова машина перед измерением: название, что обнаружено, и что делать или что это значит.

condition-machine = машина
    .value = { $said }
    .advice = она должна быть доступна, и на ней нужна оболочка POSIX
condition-load = средняя загрузка
    .value = { FIXED($average, digits: 2) } за последнюю минуту, аппаратных потоков: { $threads }
    .advice = дождитесь, пока машина освободится, или остановите посторонние программы
condition-foreign-load = посторонние программы
    .value = { PERCENT($share) } процессорного времени{ WITH(", больше всего — ", $said) }
    .advice = остановите их{ WITH(": выше ", PERCENT($limit), " ни один повтор не засчитывается") }
condition-steal = отнятое время
    .value = { PERCENT($share) } процессорного времени
    .advice = хост отдаёт время этой виртуальной машины другим{ WITH(": выше ", PERCENT($limit), " ни один повтор не засчитывается") }
condition-pressure = { $resource ->
    [cpu] ожидание процессора
    [io] ожидание ввода-вывода
   *[memory] ожидание памяти
}
    .value = что-то ждало { PERCENT($share) } последних 10 с
    .advice = дождитесь, пока машина освободится, или остановите посторонние программы
condition-swap = подкачка
    .value = { $total ->
        [0] места нет
       *[other] занято { MIB($used) } из { MIB($total) } МиБ
    }
    .advice = { $pages ->
        [0] выгруженные страницы могут быть прочитаны во время повтора: swapoff -a && swapon -a
       *[other] идёт подкачка: освободите память, иначе повторы будут негодными
    }
condition-free-memory = свободная память
    .value = доступно { MIB($available) } из { MIB($total) } МиБ
    .advice = освободите память, иначе начнётся подкачка
condition-results-space = место для результатов
    .value = { SIZE($available) } в { $mount }
    .advice = освободите место или храните результаты в другом каталоге: --store
condition-load-space = место для нагрузки
    .value = { SIZE($available) } в { $mount }{ $needed ->
        [0] {""}
       *[other] ; файлам в { $directory } нужно { SIZE($needed) }
    }
    .advice = освободите место или { $needed ->
        [0] укажите в STEND_WORK другой каталог
       *[other] { $job_file ->
            [true] разместите файлы в другом месте (STEND_WORK или directory= в файле заданий) или уменьшите их (--set size=1GiB, LUN — --set lun_size=1GiB)
           *[false] разместите файлы в другом месте (STEND_WORK или «directory» у fio) или уменьшите их (--scale, --only)
        }
    }
condition-results-unwritable = место для результатов
    .value = в { $path } нельзя писать
    .advice = храните результаты в другом каталоге: --store
condition-load-unwritable = место для нагрузки
    .value = в { $path } нельзя писать
    .advice = укажите в STEND_WORK или в «directory» у fio другой каталог
condition-governor = регулятор частоты
    .value = { $governors ->
        [none] не виден: частотой управляет хост или прошивка
       *[other] { $governors }
    }
    .advice = включите performance: cpupower frequency-set -g performance
condition-frequency-limit = ограничение частоты
    .value = разрешено { MEGAHERTZ($allowed_hz) } из { MEGAHERTZ($possible_hz) } МГц
    .advice = частота ограничена настройкой или нагревом: cpupower frequency-info
condition-turbo = турборежим
    .value = { $setting ->
        [none] не виден
        [on] включён: короткие нагрузки идут быстрее длинных
        [off] выключен
       *[other] { $setting }
    }
condition-throttling = троттлинг
    .value = { $times ->
        [0] с запуска не было
       *[other] { $just_now ->
            [true] только что, событий: { $times }
           *[false] с запуска событий: { $times }
        }
    }
    .advice = { $just_now ->
        [true] слишком жарко: охладите машину, иначе повторы будут негодными
       *[false] машина уже перегревалась и под нагрузкой может перегреться снова
    }
condition-throttling-uncounted = троттлинг
    .value = не считается; замедление от нагрева видно только по частоте
condition-temperature-sensors = датчики температуры
    .value = { $names ->
        [none] нет; температуры не будут записаны
       *[other] { $names }
    }
condition-power = питание
    .value = { $battery ->
        [true] от батареи
       *[false] от сети
    }
    .advice = включите в сеть: от батареи машина может работать медленнее
condition-processors = процессоры
    .value = можно занять аппаратных потоков: { $allowed } из { $online }
    .advice = остальные недоступны из-за контейнера или привязки
condition-clock-source = источник времени
    .value = { $name }
    .advice = читается медленно или грубо: в журнале ядра сказано, почему не взят лучший
condition-virtualization = виртуализация
    .value = { $by ->
        [none] признаков нет
       *[other] { $by }{ $known ->
            [true] ; соседи по хосту могут мешать
           *[false] {""}
        }
    }
    .advice = что ещё работает на хосте, неизвестно
condition-huge-pages = прозрачные большие страницы
    .value = { $setting }
condition-address-randomization = случайное размещение адресов
    .value = { $setting ->
        [off] выключено
        [partial] стек и библиотеки
        [full] полное
       *[other] { $setting }
    }
condition-other-labs = другие измерения
    .value = не идут
condition-lab-at-work = другие измерения
    .value = { $said }
condition-lab-unknown = другие измерения
    .value = неизвестно: есть файл { $path }, но ещё нет stend-probe, чтобы определить, кто его держит
    .advice = первый прогон на машине соберёт его и будет отклонён, если измерения идут
condition-unread = неизвестно
    .advice = { $of ->
        [foreign_load] свободна ли машина, неизвестно
       *[other] сколько можно записать, неизвестно
    }

# Чего нет. Части описания машины называются иначе; программы и контрольные группы — как есть.

missing-energy = энергия
missing-power = мощность
missing-frequency = частота
missing-thermal = температура
missing-cpu = процессорное время
missing-memory = память
missing-swap = подкачка
missing-load = загрузка
missing-disk = диски
missing-net = сеть
missing-collection = опрос машины
missing-tools = программы
missing-mitigations = защита от уязвимостей
missing-series = ряды отсчётов
missing-report = отчёт программы

# Что отказ сделал с частью хранилища.

deed-disk-dies = диск { $disk } отказывает
deed-disk-replaced = диск { $disk } заменён
deed-disk-rebuilt = диск { $disk } восстановлен
deed-disk-rots = на диске { $disk } портятся данные
deed-scrub-begins = диск { $disk } проверяется
deed-scrub-ends = диск { $disk } проверен
deed-disk-slows = диск { $disk } замедляется
deed-disk-recovers = диск { $disk } снова быстрый
deed-disk-lost = диск { $disk } потерян
deed-power-lost = у пула пропадает питание
deed-controller-killed = контроллер { $controller } убит
deed-controller-back = контроллер { $controller } снова работает

# Что проверено в работе.

check-rfc-vector = тестовый вектор из RFC
check-backend = { $blocks ->
    [0] { $bytes ->
        [0] {""}
       *[other] все байты ({ $bytes })
    }
   *[other] байт с начала: { $bytes }, блоков дальше: { $blocks }, среди них первый и последний в каждом сообщении
}{ $keys ->
    [0] {""}
   *[other] последние ключи каждого сообщения ({ $keys })
}{ $tags ->
    [0] {""}
   *[other] { $bytes ->
        [0] имитовставки ({ $tags })
       *[other] {" "}и имитовставки ({ $tags })
    }
}: сверено с реализацией { $backend }
check-by-digest = по дайджесту прежнего повтора
check-target = все байты копии ({ $bytes }) сверены с исходными
check-sum-of-words = сумма слов в каждом проходе, байт в проходе: { $bytes }
check-last-pass = все байты ({ $bytes }) сверены с тем, что записал последний проход
check-every-byte = каждый байт, всего { $bytes }
check-count = счёт байтов ({ $bytes }){ $and ->
    [words] {" "}и по слову из каждых 4096
    [blocks] {" "}и по 4096 из каждого МиБ
   *[nothing] {""}
}
check-full-before = до этого целиком проверено байт: { $bytes }
check-corrupt = { $when ->
    [before] до этого{" "}
   *[measured] {""}
}испорчено слов: { $wrong } из { $words }
check-unequal = { $when ->
    [before] до этого{" "}
   *[measured] {""}
}послано байт: { $sent }, пришло: { $arrived }
check-counted = насчитано здесь { $here }, там { $there }
check-out-of-turn = разбужен не в свою очередь
check-wrong-from = неверно с байта { $byte }, в строке { $line }: { $had } вместо { $wanted }; неверных байт: { $wrong } из { $bytes }
check-other-length = верно, но байт { $bytes } вместо { $wanted }
check-nothing-came = не пришло ни одного байта

check-no-known-answer = для { $algorithm } нет известного ответа, который могла бы вычислить команда openssl
known-answer = { $vector ->
    [sp-800-38a] тестовый вектор этого шифра из NIST SP 800-38A
    [rfc-6229] тестовый вектор этого шифра из RFC 6229
    [gost-34-13] тестовый вектор этого шифра из ГОСТ Р 34.13-2015
    [cavp-gmac] тестовый вектор этого шифра из NIST CAVP, без открытого текста (GMAC)
   *[other] дайджест строки abc из { $vector }
}
check-answer-right = этот OpenSSL верно вычисляет { known-answer }; операции измеряемого цикла сосчитаны, их результаты не проверяются
check-answer-impossible = командная строка этого OpenSSL не может вычислить { known-answer }
check-answer-wrong = { known-answer }: верно { $right }, этот OpenSSL вычисляет { $computed }
check-http-responses = ответов: { $responses }, всего байт: { $bytes }, ошибок: { $errors }; код одного — { $status }, тело — { $body } байт, SHA-256 { $sha256 }
check-handshakes = соединений: { $connections }, из них с полным рукопожатием { $new }, с возобновлением сеанса { $resumed }
check-decompressed = после распаковки SHA-256 { $sha256 }; у страниц { $pages_sha256 }
check-gzip-trailer = по хвосту gzip CRC-32 { $crc32 }, байт { $bytes }; у страниц { $pages_crc32 } и { $pages_bytes }

check-tests-came = прошло { $passed }, не прошло { $failed }, пропущено { $skipped }
check-tests-unlike-plan = { WITH($program, ": ") }сообщено о { $told } из { $planned } запланированных тестов
check-tests-without-end = в выводе нет плана (1..N), он может быть оборван
check-tests-given-up = набор прекратил работу
check-tests-stopped-at-failure = cargo остановился на первой программе с упавшим тестом; добавьте --no-fail-fast
check-tests-file-cut = { $file } не читается до конца
check-tests-killed = набор завершён сигналом { $signal }

check-fio-counts = { $direction ->
    [read] чтение
    [write] запись
   *[other] { $direction }
}: операций { $operations }{ WITH(" по ", $block, " Б") }, сосчитано байт: { $bytes }, неполных { $short }, потерянных { $dropped }
check-ramp-spanned = операций на границе разгона: до { $operations }
check-read-back = прочитано обратно с метками этого повтора байт: { $bytes } из { $written } записанных
check-counts-only = ошибок нет; сверены только счётчики, сами данные не сверялись
check-too-short = работал { $ms } мс из { $wanted_ms } мс
check-loops = байт { $bytes } из { $wanted }, проходов: { $loops }
check-rate = операций в секунду { $reached } из заданных { $asked }{ $open ->
    [false] : одни ждали других, так что нагрузка не была открытой
   *[true] {""}
}
check-data-wrong = задание fio «{ $job }» прочло не те данные, что были записаны
check-stands = по смещению { $offset } в { $file }: { $what }
check-more-stand = и ещё в нескольких местах: { $places }
stood-unreadable = не читается
stood-part = только часть блока
stood-written = то, что повтор { $repeat } прогона { $run } записал в { $lun } по смещению { $offset }
stood-bits-turned = инвертировано битов блока: { $bits }, первый в байте { $first }
stood-zeros = нули
stood-bytes = другие байты: { $hex } …

check-lost-as-expected = данные потеряны, как и ожидалось, байт: { $bytes } из { $acknowledged } подтверждённых ({ $places })
check-none-lost = из подтверждённых байт ({ $acknowledged }) не потеряно ничего, хотя потери ожидались
check-flushed-lost = потеряно байт: { $bytes } из { $flushed } сброшенных на диск ({ $places })
check-flushed-there = все байты, сброшенные на диск ({ $bytes }), на месте
check-unflushed-lost = пропало байт: { $bytes } из { $unflushed } подтверждённых, но не сброшенных на диск
check-pool-unmountable = пул больше не монтируется
check-lost-in = lun{ $lun }: { $bytes } между смещениями { $first } и { $end }
check-more-lost = и так далее

# Тексты страницы.

text-report = Отчёт стенда
text-skip = Перейти к таблице
text-machine = Машина
text-details = Все отличия и что не удалось прочитать
text-differs = отличается от базы:
text-no-difference = аппаратура и программы не отличаются
text-what = Что
text-missing = Не удалось прочитать
text-session = Сессия
text-results = Результаты
text-each-figure = Каждый результат
text-sweeps = Перебор параметров
text-heat-caption = В ячейке — медиана. Чем насыщеннее цвет, тем больше значение; шкала у прогонов общая.
text-curve-title = Задержка в зависимости от скорости
text-sweep-caption = Точка — сценарий, отрезки — интервалы 95 % медианы.
text-bars-caption = Столбец — сценарий, отрезки — интервалы 95 % медианы.
text-curve-caption = Точка — сценарий, кресты — интервалы 95 % обеих медиан. Где кривая загибается вверх, добавочная нагрузка только ждёт.
text-at-points = У точек:
text-logarithmic = Вертикальная ось логарифмическая.
text-closed = закрытая
text-closed-caption = Полая точка, «закрытая»: нагрузка с полной глубиной, от которой взяты доли; её задержка — задержка очереди.
text-legend-wide = Под результатом — интервал 95 % его медианы в тех же единицах или ± разброс, если повторов меньше шести.
text-filter = Фильтр
text-all-metrics = Все показатели
text-scenario = Сценарий
text-metric = Показатель
text-median = Медиана
text-spread = Разброс
text-count = n
text-interval = Интервал 95 %
text-base = База
text-base-is = база:
text-other-runs = Другие прогоны
text-published = Опубликовано
text-unsorted = Щёлкните по заголовку столбца, чтобы упорядочить; третий щелчок вернёт порядок набора. Щёлкните по числу, чтобы увидеть подробности.
text-better = лучше
text-worse = хуже
text-same = одинаково в пределах δ
text-unresolved = не решено: данных недостаточно
text-legend-delta = Изменение больше нуля — к лучшему: +10 % — на десятую больше пропускная способность или та же работа за 1/1,1 времени; × 2 — вдвое лучше, × 0,5 — вдвое хуже. δ: меньшие отличия неважны. Это 1 %, если набор не задаёт другого.
text-legend-published = × 2,00 у опубликованного числа: база вдвое лучше — вдвое выше скорость или вдвое меньше время; меньше 1 — хуже. Измерений для проверки нет, поэтому нет ни знака, ни цвета.
text-legend-count = n: годные повторы из всех измеренных. * : значение далеко от остальных; оно учтено.
text-nothing = Ничего не измерено.
text-too-few = меньше шести повторов
text-left-out = Есть не во всех прогонах
text-notes = Прежде чем читать таблицу
text-not-measured = Без результата
text-remedy = что поможет:
text-scenarios = Сценарии
text-expand = Раскрыть все
text-collapse = Свернуть все
text-to-top = К таблице
text-measures = Измеряет
text-instrument = Инструмент
text-parameters = Параметры
text-higher = больше — лучше
text-lower = меньше — лучше
text-figures = Результаты
text-run-or-machine = Прогон или машина
text-range = Мин. … макс.
text-against = Относительно базы
text-note = Примечание
text-repeats = Повторы
text-repeats-caption = Точка — повтор, в порядке измерения; пустые не учитываются. Линия — медиана.
text-repeats-band = Полоса — её интервал 95 %.
text-not-from-zero = Ось начинается не с нуля.
text-latency = Сколько длились отдельные операции
text-latency-steps-caption = Все операции учтённых повторов вместе, кроме крайних десятитысячных долей с обоих концов. Площадь ступени — доля операций, попавших в неё.
text-latency-curve-caption = То же перцентилями. За каждой следующей отметкой остаётся вдесятеро меньше операций. Отрезки — интервалы 95 %: они предполагают независимость операций, так что ошибка перцентиля может быть больше.
text-latency-steps-short = Все операции учтённых повторов, кроме крайних десятитысячных долей с обоих концов. Площадь — доля операций.
text-latency-percentiles = Перцентили
text-latency-curve-short = За каждой следующей отметкой вдесятеро меньше операций. Отрезки — интервалы 95 %, в действительности не уже.
text-latency-untold = Перцентиль приводится, если за ним не меньше десяти операций: для p99.99 их нужно 100 000.
text-operations = Операции
text-longest = Самая долгая
text-history = История одного показателя
text-history-caption = Точка — прогон: медиана его годных повторов с интервалом 95 %. Прогоны стоят через равные промежутки независимо от времени между ними. Пунктир — уровень между переменами.
text-history-changes = Где менялся уровень
text-history-runs = Прогоны
text-history-run = Прогон
text-history-change = Перемена
text-number = №
text-started = Начат, UTC
text-value = Значение
text-wall = Длительность
text-outcome = Исход
text-check = Проверка
text-warmup = прогрев
text-valid = годен
text-invalid = негоден
text-failed = не удался
text-check-passed = пройдена
text-check-failed = не пройдена
text-check-none = нет
text-error-output = Поток ошибок
text-command = Команда
text-faults = Что сделали отказы
text-evidence = Что проверено
text-each-repeat = По каждому повтору
text-build = Сборка измеренной программы
text-series-instrument = Записано инструментом
text-series-machine = Записано на машине
text-series-caption = Повторы идут подряд, время между ними опущено. Серое — прогрев, оранжевое и ✕ — не учитывается.
text-no-series = Отсчёты не записаны.
text-constant = Не менялось:
text-charts-by-script = Остальные графики этих отсчётов строит скрипт страницы.
text-nothing-differs = Ничего не отличается: все результаты одинаковы в пределах своего порога δ.
text-some-unresolved = Надёжных отличий нет: ни один результат не лучше и не хуже, но и одинаковость показана не для всех.
text-all-unresolved = Не решено ничего: ни для одного результата не показано, что он лучше, хуже или одинаков.
text-when-made = Когда сделан каждый повтор
text-when-made-caption = Точка — повтор: по горизонтали время от начала прогона, по вертикали отклонение от медианы его сценария. Пустые точки не считаются. Что за пределами шкалы, стоит на её краю.
text-processor = Процессор
text-memory = Память, диски
text-kernel = Ядро
text-compiler = Компилятор
text-system-and-ids = Система
text-forest-caption = Изменение в каждом сценарии с интервалом 95 %; правее — лучше. Закрашено: неважные отличия. Пустая точка: измерено одно после другого.
text-change = Изменение
text-largest-first = Сначала наибольшие
text-differing-first = Сначала отличия
text-tests = Тесты
text-tests-passed = прошло
text-tests-failed = не прошло
text-tests-flaky = нестабильных
text-tests-skipped = пропущено
text-tests-repeats = повторов
text-tests-cut = оборвано
text-weighing = На ватт, на цену и на вес
text-timeline = На одной оси времени
text-timeline-caption = Линии через все графики — события под номерами из списка. Затенено — разгон и то, что было после измеренного участка. Все графики начинаются с нуля, кроме задержки и памяти: они логарифмические. Окно, в котором хотя бы один поток нагрузки не завершил ни одной операции, суммы не имеет и опущено; при редких долгих операциях таких большинство.
text-timeline-iops = Операций в секунду
text-timeline-luns = Операций в секунду по LUN
text-timeline-bytes = Пропускная способность
text-timeline-latency = Задержка
text-timeline-shares = Кто занимал процессоры, % всей машины
text-timeline-memory = Память
text-timeline-queue = Операций в очереди дисков, в среднем
text-timeline-busy = Занятость дисков, %
text-together = все вместе
text-reads = чтение
text-writes = запись
text-trims = освобождение
text-load = нагрузка
text-controllers = контроллеры
text-others = прочие программы и ядро
text-machine-used = занято на машине
text-pool-disks = диски пула
text-lun-devices = устройства LUN
text-happened = Что произошло
text-repeat-word = повтор
text-cpu = Процессорное время, % всей машины
text-each-cpu = по процессорам
text-each-lun = по LUN
text-each-cpu-busy = Занятость каждого процессора, %
text-lowest = наименьшее
text-mean = среднее
text-highest = наибольшее
text-busy = занято
text-user = пользователь
text-system = ядро
text-iowait = ожидание дисков
text-steal = отнято гипервизором
text-slope = прирост за секунду
text-time-goes = Куда уходит время
text-not-seen = Не видно
text-flame-caption = После всех повторов инструмент запущен ещё раз под perf; в результатах это не учтено. Ширина прямоугольника — доля отсчётов, над ним — вызванные им функции. Оранжевое — ядро, остальные цвета — программы.
text-flame-timer = Отсчёты берутся по таймеру: попавшие на участок с запрещёнными прерываниями относятся к функции, которая их снова разрешает.
text-function = Функция
text-in-itself = Сама
text-with-callees = Вместе с вызванными
text-part = Часть
text-system-call = Системный вызов
text-share = Доля
text-time = Время
text-calls = Вызовов
text-call-errors = Ошибок
text-each-call = Один
text-calls-caption = Сосчитано программой strace после всех повторов, за всё время команды. Она замедляет каждый вызов, поэтому доли надёжнее времён; ожидание внутри вызова входит в его время.
text-sources = Опубликованные источники
text-method = Метод
text-method-point = Результат — медиана годных повторов. Разброс — 1,4826 × медиана абсолютных отклонений, делённая на медиану. Интервал 95 % для медианы — по порядковым статистикам, нужно шесть повторов.
text-method-verdict = Прогоны, сделанные один после другого, сравниваются по логарифмам повторов, а если у обеих сторон по нескольку сессий — по целым сессиям. «Лучше» и «хуже» — только при двух условиях: t-критерий отвергает, что разница не больше δ (q < 0,05 с поправкой Бенджамини–Хохберга на главные показатели таблицы), и весь интервал 95 % для отношения лежит за порогом δ. «Одинаково» — весь интервал внутри δ. Всё остальное не решено. δ — 1 % или столько, сколько задаёт набор. Изменение — отношение средних геометрических; медианы рядом показывают уровень.
text-method-pairs = Две стороны одного прогона измерены попеременно, порядок внутри каждой пары случаен. Логарифм отношения в паре — одно число, поэтому то, что мешает обеим сторонам одинаково, в эти числа не входит. «Лучше» и «хуже» — только при двух условиях: t-критерий по этим числам отвергает, что разница не больше δ (q < 0,05 с поправкой Бенджамини–Хохберга на главные показатели таблицы), и весь интервал 95 % для отношения лежит за порогом δ. «Одинаково» — весь интервал внутри δ. Всё остальное не решено. δ — 1 % или столько, сколько задаёт набор.
text-method-invalid = Повтор негоден, если не прошла проверка или превышен предел: троттлинг, время, отнятое гипервизором или чужими программами, подкачка, падение частоты. Негодные повторы хранятся и показываются, но не учитываются. Выбросы отмечены по правилу Тьюки и не отброшены.
text-legend-turns = Сплошные знаки ▲ ▼ ≈ — измерено попеременно. Пустые △ ▽ ~ — одно после другого: в разницу входит и то, что за это время изменилось на машине. Попеременно измеряет `--ab`.
text-method-charts = Счётчики показаны приростом за секунду, с разрывом при сбросе; прочее — как есть; у показателей отдельных процессоров — наименьшее, среднее и наибольшее. Из многих отсчётов на каждом отрезке остаются первый, последний, наименьший и наибольший, так что все пики на месте; при увеличении показаны все.
text-questions = О чём спросить любой бенчмарк
text-questions-source = Список вопросов — Брендана Грегга («Evaluating the Evaluation: A Benchmarking Checklist», 2018), ответы взяты из данных этой страницы.
text-ask-double = Почему не вдвое быстрее?
text-ask-limits = Не чужой ли это предел и возможен ли такой результат вообще?
text-ask-errors = Были ли ошибки?
text-ask-reproduce = Получится ли то же ещё раз?
text-ask-matter = Важно ли это?
text-ask-happened = А было ли это вообще?
text-no-profile = Профиль не снят; `stend run --profile` покажет, на какие функции уходит время.
text-see-profiles = На какие функции уходит время, показывают профили; они приведены у своих сценариев.
text-no-loader = Ни у одного инструмента этих прогонов нет отдельного генератора нагрузки, или он не сообщает свою долю процессорного времени.
text-below-ceilings = Ни один результат не выше своего потолка.
text-one-boot = Сессии одной загрузки не покажут того, что меняется от загрузки к загрузке; покажет сессия после перезагрузки.
text-none-sure = Ни у одного главного показателя надёжных отличий нет.
text-not-compared = Сравнения с другим прогоном здесь нет, поэтому нет и вердиктов.
text-how-computed = Как получены результаты и вердикты
text-same-machine = ни в аппаратуре, ни в программах отличий не найдено: это одна машина в разное время
text-same-machine-in-turns = та же машина с другими настройками, измеренная попеременно; что задаёт каждая сторона, сказано в примечаниях
text-show-only = Только
text-only-better = лучше
text-only-worse = хуже
text-only-same = одинаково
text-only-unresolved = не решено
text-rows-shown = Показано строк:
text-none-shown = Строк с такими словами и вердиктом нет.
text-why = Вердикт и причина
text-histogram = Как распределены значения
text-histogram-caption = Сколько учтённых повторов попало в каждый шаг оси.
text-gate-steal = Отнял гипервизор
text-gate-foreign = Заняли другие
text-gate-fall = Частота упала на
text-gate-swapping = Страниц подкачано
text-gate-throttling = Троттлинг, раз
text-gates-caption = После ≤ — предел, за которым повтор не учитывается. Доли — от процессорного времени всей машины; меньше двух тиков ядра на процессор нарушением не считается.
text-close = Закрыть
text-copy = Скопировать
text-job-file = Файл задания, названный в команде, удалён после повтора. Ниже он восстановлен по данным прогона; ${"{"}LUN1{"}"} и далее — это LUN:
text-copied = Скопировано
text-series = Что происходило
text-on-paper = Графики отдельных показателей на бумаге опущены, они есть в файле.
text-moment = Момент
text-zoom-in = Ближе
text-zoom-out = Дальше
text-earlier = Раньше
text-later = Позже
text-whole = Вся ось
text-axis-hint = У всех графиков прогона одна ось времени. Наведите указатель или двигайте ползунок стрелками, чтобы увидеть значения в этот момент; проведите по графику, чтобы рассмотреть его часть. Прогоны рядом показывают ту же часть тех же повторов.
text-none-of-these = Ни одного из повторов, показанных у другого прогона, здесь нет, поэтому видна вся ось.
text-generated = Составлено программой stend
text-open-on-paper = Напечатаны только сценарии, раскрытые при печати страницы.
text-language = Русский
text-of-languages = Язык

# Примечания к таблице, без точки в конце.

note-scaled = { $run }: { $target ->
    [true] длительности и размеры, кроме размеров цели,
   *[false] размеры и длительности
} умножены на { $factor }; это не собственные параметры набора
note-loaded = { $run }: { $apart ->
    [true] у { $servers } и у нагрузки были свои процессоры, по половине из { $processors }
   *[false] { $servers } и нагрузка делили { $processors } { $processors ->
        [one] процессор
        [few] процессора
       *[other] процессоров
    }, поэтому операций в секунду могло быть больше; от 4 процессоров каждому достаётся половина
}
note-target = { $run }: цель: { $target }
note-in-pairs = { $run }: две стороны измерялись попеременно и сравниваются попарно, так что медленный дрейф действует на обе одинаково
note-few-repeats = { $run }: в { $scenarios } { $scenarios ->
    [one] сценарии
   *[other] сценариях
} задано меньше { $least } повторов, поэтому вердикта нет
note-unverified = { $run }: работу { $scenarios } { $scenarios ->
    [one] сценария
   *[other] сценариев
} нельзя проверить
note-unfit = { $run }: измерено, хотя машина не годилась для измерений: { $conditions }
note-left-running = { $run }: оставлены работающие процессы; они остановлены, их работы в результатах нет: { $scenarios }
note-unprepared = { $run }: подготовка не удалась, и то, что за ней, измерено без неё: { $scenarios }
note-not-steady = { $run }: установившегося состояния не достигнуто, вердикта нет: { $scenarios }
note-loader-bound = { $run }: генератор нагрузки занял больше { PERCENT($most) } процессорного времени машины, и пределом может быть он сам: { $scenarios }
note-emulated = { $run }: выполнен эмулятором { $emulator }: не сравнивается. Проверки показывают, что код верен; времена не относятся ни к какой машине
note-public = { $run }: выгружен для публикации: без данных, по которым можно узнать машину или владельца, и без части командной строки ядра; опущенное ни с чем не сравнивается
note-unfinished = { $run } не закончен{ $may_go_on ->
    [true] ; продолжить: `stend resume { $run }`
   *[false] {""}
}
note-other-version = { $run }: измерено программой stend { $version }, а { $base } — { $base_version }
note-other-work = нет вердикта: { $scenarios } — в { $run } не та работа, что в { $base }: { $differences }
note-other-place = та же работа, но в { $run } в другом месте, чем в { $base }: { $difference }; это { $scenarios }
note-other-file = { $file } в { $run } с другим содержимым, чем в { $base }; это часть { $scenarios }
note-other-direction = { $metric }: в { $base } лучше, когда { $better ->
    [higher] больше, в { $run } — когда меньше
   *[lower] меньше, в { $run } — когда больше
}; вердикты следуют { $base }: { $scenarios }
note-other-build = { $instruments }: в { $run } не та сборка, что в { $base }, и вердикты сравнивают и её: { $differences }
note-several-builds = { $run }: пересобрано посреди прогона, поэтому повторы не все одной сборки: { $instruments }
note-pooled = { $run }: { $runs_count } { $runs_count ->
    [one] прогон
    [few] прогона
   *[other] прогонов
} одной машины вместе, как сессии одного: { $runs }
note-filtered = только то, что отбирает фильтр `{ $filter }`; поправка на множественные сравнения — по этим результатам
note-only-rows = { $shown ->
    [0] не показано ни одной строки: вердикта «{ $only ->
        [better] лучше
        [worse] хуже
        [significant] лучше» или «хуже
        [same] одинаково
       *[unresolved] не решено
    }» нет ни у одной (всего строк { $of })
   *[other] показано { $shown } { $shown ->
        [one] строка
        [few] строки
       *[other] строк
    } из { $of }: только { $only ->
        [better] лучшее
        [worse] худшее
        [significant] лучшее и худшее
        [same] одинаковое
       *[unresolved] нерешённое
    }
}
note-nothing-published = { $references }: ни одного из сравниваемых здесь показателей нет, нет и столбца
note-no-ratio = нет вердикта: { $figures } в { $run } относительно { $base } — значение нулевое или отрицательное, отношения нет
as-it-is = машина без изменений
and = и
and-more = и ещё { $count }
in-quotes = «{ $text }»
no-value = нет

# Почему нет результата.

lack-skipped = пропущен
lack-invalid = негоден
lack-failed = не удался
lack-not-reported = нет данных
lack-not-yet = ещё не измерен
lack-remedy = поможет: { $remedy }
not-reported = инструмент сообщил не всё, что нужно: { $value }
no-controllers = между нагрузкой и хранилищем нет контроллеров, процессорное время которых можно прочитать

# Предложения страницы, таблиц и историй.

summary = { $measured ->
    [one] Измерен { $measured } сценарий
    [few] Измерено { $measured } сценария
   *[other] Измерено { $measured } сценариев
} на машине { $machine }{ WITH(", ", $moment) }{ $skipped ->
    [0] {""}
   *[other] ; { $skipped } без результата
}{ $why ->
    [none] {""}
   *[other] {" "}({ $skipped ->
        [1] {""}
       *[other] чаще всего{" "}
    }{ $why })
}{ $few ->
    [0] {""}
   *[other] ; в { $few } учтено меньше { $least } повторов
}; { $sessions }.
to-settle = хватило бы примерно { $numbers } { $counted ->
    [pairs] { $numbers ->
        [one] пары
       *[other] пар
    }
    [sessions] { $numbers ->
        [one] сессии
       *[other] сессий
    } с каждой стороны
   *[repeats] { $numbers ->
        [one] повтора
       *[other] повторов
    } с каждой стороны
}
drawn = наименьшее { $lowest }, наибольшее { $highest }; отсчётов { $samples }{ WITH(", показано ", $points) }
merged-of = { $count } за { $repeats } { $repeats ->
    [one] повтор
    [few] повтора
   *[other] повторов
}
along = { $metric } в зависимости от { $axis }
curves-left-out = Не нарисовано, так как их слишком много, кривых: { $count }.
axes = Вниз: { $down }; вправо: { $across }
grade = { $grade ->
    [in_turns] попеременно
    [sessions_in_turns] попеременно сессиями
    [one_after_the_other] одно после другого
   *[published] опубликованные числа
}
grade-one-session = по одной сессии: разница может быть и оттого, что измерено в разное время
grade-emulated = на эмуляторе { $emulator }: только проверка работоспособности
sessions = { $sessions ->
    [1] одна сессия
   *[other] { $sessions } { $sessions ->
        [one] сессия
        [few] сессии
       *[other] сессий
    }{ $boots ->
        [1] , перезагрузок между ними не видно
       *[other] , { $boots } { $boots ->
            [one] загрузка
            [few] загрузки
           *[other] загрузок
        }
    }
}

history-title = { $scenario }: { $metric }, { $better ->
    [higher] больше — лучше
   *[lower] меньше — лучше
}
runs = { $runs } { $runs ->
    [one] прогон
    [few] прогона
   *[other] прогонов
}
history-subject = { $machine } · аппаратура { $hardware } · { runs }{ WITH(", ", $first) }{ WITH(" … ", $last) }
history-change = { $size } с { $at }, с прогона { $run }: с { $before } до { $after } (p { $p })
history-no-cause = между { $before } и { $after } в отпечатке ничего не изменилось
history-near = но рядом, между { $before } и { $after }: { $what }
history-build = сборка, { $what }
history-no-run = Ни в одном прогоне нет годных повторов.
history-too-few = Перемены уровня ищутся, начиная с десяти прогонов: не хватает { $more }.
history-without-ratio = Перемены уровня не ищутся: какое-то значение не больше нуля.
history-no-change = Уровень ни разу не менялся.
history-rule = ▲ лучше, ▼ хуже. Перемена держится не меньше двух прогонов, p < 0,001 и больше 2 %; уровни — средние медиан по обе стороны.
history-other-machine = Опущено прогонов на другой аппаратуре (их покажет --machine NAME): { $runs }.
history-other-work = Опущено прогонов с другой работой под тем же именем сценария: { $runs }.
history-emulated = Опущено прогонов под эмулятором: { $runs }.
history-two-sides = Опущено прогонов с двумя сторонами, которые различаются намеренно: { $runs }.
history-no-value = Опущено прогонов без годных повторов: { $runs }.

clocks-agree = часы согласны с точностью { $sure }
clocks-apart = часы сверены с точностью { $sure }: у машины они были на { $apart } { $way ->
    [ahead] впереди наших
   *[behind] позади наших
}; моменты даны по нашим часам
clocks-set = { $clocks }; за это время их перевели на { $step }, что не влияет на измеренное время
clocks-drift = { $clocks }; они { $way ->
    [gained] ушли вперёд
   *[lost] отстали
} на { $by } за { $within }
clocks-once = { $clocks }; в конце они не сверены

part-user = код самих программ
part-copy = ядро: копирование
part-pages = ядро: выделение страниц
part-memory-cgroup = ядро: учёт памяти в cgroup
part-mappings = ядро: отображение страниц
part-scheduling = ядро: планирование задач
part-locks = ядро: блокировки
part-entry = ядро: вход и выход
part-pipes = ядро: каналы
part-network = ядро: сеть
part-files = ядро: файлы и диски
part-other-kernel = ядро: прочее
stack-samples = Отсчётов { $stretch ->
    [measured] за измеряемое время
   *[whole] за всё время команды, с подготовкой
}: { $samples }, событие { $event }

drawings-head = Графики: { $runs }
drawings-by = Составлено командой `{ $command }`.
drawings-beside = Не запрошены: { $kinds }; `--drawings { $option }` сделает те, для которых есть данные.
drawings-none = Нет { $kind }: { $why }.
drawings-nothing = Рисовать нечего.
none-forest = прогон не сравнивался с другим
none-published = об этих сценариях ничего не опубликовано
none-sweeps = ни у одного семейства сценариев нет двух числовых осей или пропускной способности с задержкой
none-repeats = ни у одного повтора нет результата
none-latencies = ни один инструмент этих прогонов не измеряет длительность отдельных операций, как это делает fio; инструменты stend-probe измеряют повтор целиком
none-timelines = ни один сценарий не нагружает хранилище
none-flames = стеки не снимались; это делает `stend run --profile` там, где есть perf
none-samples = отсчёты не записаны

weighing-meaning = Скорости делены на ватты, цену или вес, времена умножены на них. Множитель больше 1: лучше базы или база лучше опубликованной машины. Ватты, цены и вес — одиночные числа, поэтому вердикта нет
weighing-watt = На ватт: { $of }
weighing-kilogram = На килограмм: { $of }
weighing-money = На цену в { $currency }: { $of }
weighing-measured = { $title }: { $least } … { $most } Вт, { $of }, измерено во время каждого сценария (всего { $scenarios }); медиана по повторам
weighing-given = { $title }: { $amount }, { $of } ({ $source })

# Тесты из набора самого проекта.

tests-title = Тесты: { $scenario }
tests-sentence = { $scenario }: { $said }.
tests-alone = прошло { $passed }, не прошло { $failed }{ $flaky ->
    [0] {""}
   *[other] , нестабильных { $flaky }
}, пропущено { $skipped }
tests-cut = набор не дошёл до конца в { $cut } из { $repeats ->
    [one] { $repeats } повтора
   *[other] { $repeats } повторов
}
tests-none-fails-here = из { $count ->
    [one] { $count } теста, который проходит на { $base }, на { $run } не упал ни один
   *[other] { $count } тестов, которые проходят на { $base }, на { $run } не упал ни один
}
tests-fails-here = { $count ->
    [one] { $count } тест проходит на { $base } и падает на { $run }
    [few] { $count } теста проходят на { $base } и падают на { $run }
   *[other] { $count } тестов проходят на { $base } и падают на { $run }
}
tests-lost-here = до { $count ->
    [one] { $count } теста
   *[other] { $count } тестов
} на { $run } не дошло: набор оборвался
tests-flaky = { $count ->
    [one] { $count } иногда падает
   *[other] { $count } иногда падают
}
tests-skipped-here = { $count ->
    [one] { $count } пропущен только на { $run }
   *[other] { $count } пропущено только на { $run }
}
tests-skipped-in-base = { $count ->
    [one] { $count } пропущен только на { $base }
   *[other] { $count } пропущено только на { $base }
}
tests-passes-here = { $count ->
    [one] { $count } проходит только на { $run }
   *[other] { $count } проходят только на { $run }
}
tests-only-in-base = { $count } есть только на { $base }
tests-only-here = { $count } есть только на { $run }
tests-failing-in-both = { $count ->
    [one] { $count } падает и там и там
   *[other] { $count } падают и там и там
}
tests-list-failing = Не прошли
tests-list-fails-here = Проходят на { $base }, падают на { $run }
tests-list-lost-here = Проходят на { $base }, до них не дошло на { $run }
tests-list-flaky = Иногда падают
tests-list-skipped-here = Выполняются на { $base }, пропущены на { $run }
tests-list-skipped-in-base = Пропущены на { $base }, выполняются на { $run }
tests-list-passes-here = Падают на { $base }, проходят на { $run }
tests-list-only-in-base = Только на { $base }
tests-list-only-here = Только на { $run }
tests-more = и ещё { $count }; в JSON есть все
tests-passes = проходит
tests-fails = падает
tests-skipped = пропущен
tests-failed-of = упал в { $failed } из { $ran }
tests-failed-of-on = упал в { $failed } из { $ran } на { $run }

# Части описания машины и чем они различаются.

fingerprint-architecture = архитектура
fingerprint-processor = процессор
fingerprint-vendor = изготовитель
fingerprint-features = наборы команд
fingerprint-cores = ядер
fingerprint-threads = потоков
fingerprint-sockets = сокетов
fingerprint-memory-bytes = память
fingerprint-caches = кэши
fingerprint-disks = диски
fingerprint-board = плата
fingerprint-kernel = ядро
fingerprint-kernel-build = сборка ядра
fingerprint-command-line = командная строка ядра
fingerprint-numa-nodes = узлов NUMA
fingerprint-libc = библиотека C
fingerprint-compiler = компилятор
fingerprint-compiler-flags = флаги компилятора
fingerprint-system = система
fingerprint-microcode = микрокод
fingerprint-virtualization = виртуализация
fingerprint-emulator = эмулятор
fingerprint-target = цель
fingerprint-flags = флаги
fingerprint-sources = исходники
fingerprint-version = версия
fingerprint-instrument = инструмент
fingerprint-metrics = показатели
fingerprint-verification = проверка
fingerprint-steady = установившееся состояние
fingerprint-rate = темп
fingerprint-settings-governor = регулятор частоты
fingerprint-settings-boost = турборежим
revision-of = процессор: { $name }
target-of = цель: { $name }
version-of = версия { $name }
path-of = путь к { $name }
digest-of = SHA-256 программы { $name }
mitigation-of = защита от { $name }
mitigation-not-listed = не названа
mitigation-on = включена
mitigation-off = выключена
mitigation-not-affected = не нужна
lost-values = нет больше { $values }
gained-values = появились { $values }
ids = аппаратура { $hardware } · программы { $software }
guest-on = гость ({ $accelerator }) на { $processor }
guest-of = гость: { $name }
emulated-by = эмулятор { $emulator }: только проверка правильности
ram = { $size } ОЗУ
rotational = (вращается)
governor-is = регулятор частоты { $value }
boost-is = турборежим { $value }
offer = { $there ->
    [yes] { offered }
   *[no] нет { offered }
}
offered = { $name ->
    [af_alg] AF_ALG
    [ktls] kTLS
   *[other] { $name }
}
mitigations = защит от уязвимостей: { $on }{ WITH(", выключены: ", $off) }
sockets = { $count ->
    [one] { $count } сокет
    [few] { $count } сокета
   *[other] { $count } сокетов
}
cores = { $count ->
    [one] { $count } ядро
    [few] { $count } ядра
   *[other] { $count } ядер
}
threads = { $count ->
    [one] { $count } поток
    [few] { $count } потока
   *[other] { $count } потоков
}
numa-nodes = { $count ->
    [one] { $count } узел NUMA
    [few] { $count } узла NUMA
   *[other] { $count } узлов NUMA
}

# Каков прогон относительно базы.

standing = { $said }.
standing-by-main = { $said } (по главному показателю каждого сценария).
standing-same = { $runs ->
    [1] { $run } и { $base } одинаковы
   *[other] Прогоны { $run } не отличаются от { $base }: одинаково
} { on-all }
standing-undiffering = { $runs ->
    [1] { $run } в сравнении с { $base }
   *[other] Каждый из { $run } в сравнении с { $base }
}: { $same ->
    [0] надёжных отличий нет
   *[other] одинаково в { $same } из { $all } { $all ->
        [one] сценария
       *[other] сценариев
    }
}; { $unresolved }
standing-on-all = { $run } { $way }, чем { $base }{ $all ->
    [1] {""}
   *[other] {", "}{ on-all }
}
standing-first = { $run } { $way }, чем { $base }, в { $count } { $count ->
    [one] сценарии
   *[other] сценариях
} из { $all }
standing-second = { $way } в { $count }
part = { $work ->
    [cipher] шифры
    [copy] копирование памяти
    [fizzbuzz] FizzBuzz
    [openssl] OpenSSL
    [pipe] каналы
    [switch] переключение контекстов
   *[other] { $work }
}: { $said }
part-on-all = { $way }{ $all ->
    [1] {""}
    [2] {" "}в обоих сценариях
   *[other] {" "}в каждом из { $all } { $all ->
        [one] сценария
       *[other] сценариев
    }
}
part-first = { $way } в { $count } из { $all }
same-on = одинаково в { $count }
unresolved-on = не решено: { $count }{ WITH(" (разница в ", $visible, " была бы видна)") }
settle-all = чтобы решить, хватит примерно { $numbers } { $counted ->
    [pairs] { $numbers ->
        [one] пары
       *[other] пар
    }
    [sessions] { $numbers ->
        [one] сессии
       *[other] сессий
    }
   *[repeats] { $numbers ->
        [one] повтора
       *[other] повторов
    }
} ({ $option })
settle-least = для вердикта нужно не меньше { $numbers } { $counted ->
    [pairs] пар
    [sessions] сессий
   *[repeats] повторов
} ({ $option })
on-average = { $count ->
    [1] {""}
   *[other] в среднем{" "}
}{ $change }{ WITH(" (", $interval, ")") }
on-all = { $all ->
    [1] в единственном сценарии
    [2] в обоих сценариях
   *[other] в каждом из { $all } { $all ->
        [one] сценария
       *[other] сценариев
    }
}
faster = быстрее
the-same = одинаково
slower = медленнее
mean-label = среднее геометрическое { $count }
mean = { $run }: { $ratio }{ WITH(" (", $interval, ")") } — среднее геометрическое по { $count } { $count ->
    [one] сценарию
   *[other] сценариям
}, больше — лучше{ WITH("; без ", $missing) }
nothing-between = { $runs ->
    [1] Между { $run } и { $base } ничего сказать нельзя
   *[other] Между { $base } и каждым из прогонов { $run } ничего сказать нельзя
}: { $why }
nothing-in-common = у них нет общих сценариев
nothing-in-both = ни у одного сценария нет результата в обоих
nothing-of-emulators = то, что выполнил эмулятор, не скорость машины
nothing-of-other-work = ни один сценарий не выполнял в обоих одну и ту же работу; чем она отличается, сказано в примечаниях
nothing-judged = судить не о чем; почему, сказано в примечаниях
side-as-it-is = без изменений
side-as-it-is-quoted = «без изменений»
of-ceiling = { $share } от «{ $scenario }»
of-multiple = { $factor }, { $share } от «{ $scenario }»

# Почему вердикт таков.

no-verdict = Вердикта нет: их нельзя сравнить, почему — сказано в примечаниях над таблицей.
reason = { $verdict ->
    [better] Лучше, чем база: { reason-significant }
    [worse] Хуже, чем база: { reason-significant }
    [same] Практически то же, что база: { reason-size }. Весь интервал внутри { reason-floor }.
   *[unresolved] Данных недостаточно{ $size ->
        [none] . { reason-unresolved }
       *[other] : { reason-size }. { reason-unresolved }{ WITH("; разница в ", $visible, " была бы видна") }{ WITH("; ", $more) }
    }.
}
reason-size = { $size }{ WITH(", интервал 95 %: ", $interval) }
reason-chance = { WITH(" (q ", $q, ")") }
reason-floor = порога { $floor }, ниже которого разница неважна
reason-significant = { reason-size }. Случайность маловероятна{ reason-chance }; весь интервал лежит за порогом { $floor }, ниже которого разница неважна.
reason-unresolved = { $reason ->
    [too-few] Для вердикта нужно пять пар или по пять повторов с каждой стороны
    [not-finite] Одно из значений — не конечное число, проверять нечего
    [not-positive] Одно из значений — ноль или меньше, отношения для проверки нет
    [unequal-pairs] Не у каждого повтора одной стороны есть пара на другой
    [crosses-floor] Разница есть, но она может быть меньше { reason-floor }
    [not-significant] Не доказано, что разница больше { reason-floor }{ reason-chance }
   *[no-test] Проверить ничего не удалось
}

# Рядом с опубликованным.

not-comparable = { $run } можно сравнивать с такими же прогонами, но не с опубликованными результатами: { $why ->
    [scaled] он уменьшен (--scale)
    [memory] диски его цели — файлы в памяти
   *[files] диски его цели — файлы
}.
beside-published = { $publication }: { $factors }{"\u00A0"}× { $machine }{ $machines ->
    [one] {""}
   *[other] , лучшая из { $machines } машин
}{ $scenarios ->
    [one] {""}
    [few] {" "}({ $scenarios } сценария)
   *[other] {" "}({ $scenarios } сценариев)
}.
published-in-words = { $machine }, { $scenario }: «{ $words }»
alone = Сравнить { $run } пока не с чем; её собственные повторы различаются на { $middle } в типичном сценарии и самое большее на { $most } («{ $scenario }»).

# Что сделали отказы.

rebuilt = { $deed } за { $time }{ WITH("; до этого btrfs насчитал: ", $errors) }
no-dip = { $fault }: нет окна ниже 90 % от { $before }
dip = { $fault }: с { $before } до { $lowest } (на { $depth } меньше){ WITH(", что началось лишь после «", $after, "»") }, { $time ->
    [none] до конца нагрузки не восстановилось
   *[other] снова как было через { $time }
}

# Цели, и о чём их результаты ничего не говорят.

target = { $kind ->
    [file] файлы ({ $place })
    [device] { $place }
   *[pool] { target-disks }{ WITH(" по ", $disk_figure) } ({ $place }), { target-layout }
}, { $luns } LUN{ WITH(" по ", $lun_figure) }, { $transport }{ $controllers ->
    [0] {""}
    [one] , { $controllers } контроллер
    [few] , { $controllers } контроллера
   *[other] , { $controllers } контроллеров
}
target-disks = { $disks } { $disks ->
    [one] диск
    [few] диска
   *[other] дисков
}
target-work = каталог для файлов прогонов
target-layout = { WITH($manager, " ") }{ $layout }
target-threads = потоков { $value }
target-filters = фильтры { $value }
target-processors = процессоры { $value }
target-scheduler = планировщик { $value }
target-mount-options = опции монтирования { $value }
target-in-memory = диски — файлы в памяти, поэтому измерен путь через программы, а не флеш-память
target-in-files = диски — файлы на { $kind }, и какие кэши лежат ниже, не видно, поэтому измерен путь через программы, а не флеш-память
target-zfs = ZFS читает через свой кэш в памяти, что бы ни говорил «direct»
target-iscsi = tgtd читает и пишет через страничный кэш, что бы ни говорил «direct»
target-iscsi-by-nbd = между fio и tgtd стоит qemu-storage-daemon, который говорит на iSCSI: измерена вся цепочка, и предел может ставить он; его процессорное время — нагрузки, а не контроллеров
target-nfs = сервер NFS читает и пишет через страничный кэш, что бы ни говорил «direct»
target-nbd = nbdkit читает и пишет через страничный кэш, что бы ни говорил «direct»
target-works = работа пула — процессорное время не нагрузки, поэтому порог для посторонних программ отключён
target-stood = она стояла до прогона, под именем { $name }, и в её LUN то, что записано раньше
target-not-filled = LUN сначала не заполнены, а незаписанное читается со скоростью памяти
not-in-runs = нет в { $runs }: { $names }
differing = { $name }
evidence-ratio = отношение { $figure }
evidence-q = q { $figure }
evidence-floor = порог { $figure }
controller = контроллер { $number }
server-loaded = сервер { $server }

# О чём страница.

title-with-suite = { $of } — { $suite }
title-of-sides = A/B на машине { $machine }: «{ $b }» против «{ $a }»
title-of-two = { $other } в сравнении с { $base }
title-of-several = { $base } и ещё { $count } { $count ->
    [one] прогон
    [few] прогона
   *[other] прогонов
}
clocks-of-session = { $machine }{ WITH(", сессия ", $session) }: { $clocks }
screen-of = Экран { $machine } в конце измерения
clocks-carried = { $machine }: измерено без связи и перенесено сюда; моменты даны по часам самой машины

# Ответы на то, о чём спросить любой бенчмарк.

busy = В { $busy } из { $all } { $all ->
    [one] сценария
   *[other] сценариев
} нагрузка всё время занимала хотя бы один процессор: предел там — сам процессор, считая ожидание памяти.
waiting-elsewhere = В остальных она ждала, или процессор был занят другими, и времени ей досталось меньше, чем есть у одного процессора: { $scenarios }.
waiting = В каждом сценарии нагрузка ждала, или процессор был занят другими, и времени ей досталось меньше, чем есть у одного процессора: { $scenarios }.
beside-ceilings = Рядом с тем, что набор называет для них потолком: { $shares }.
beyond-ceilings = Больше своего потолка, так что стоит усомниться в одном из двух чисел: { $shares }.
loader = Генератор нагрузки занял самое большее { $share } процессорного времени машины ({ $scenario }); если больше { $limit }, пределом может быть он сам, и тогда об этом сказано над таблицей.
repeats-checked = Повторов, считая прогревы: { $all }. Проверены и верны: { $passed }; неверны: { $wrong }; проверить нельзя: { $unchecked }; ничего не измерено: { $failed }.
repeats-invalid = Негодных повторов: { $shown }; они не учтены, причины указаны в их сценариях.
repeats-of-each = { $many } { $most ->
    [one] учтённый повтор
    [few] учтённых повтора
   *[other] учтённых повторов
} каждого сценария; { $sessions }.
restless = От повтора к повтору типичный результат базы меняется на { $middle }, самый беспокойный — на { $most } ({ $scenario }).
your-work = Только вам известно, ваша ли это работа: { $suite }.
differences-below = Отличия меньше { $floor } за отличия не считаются.
differences-sure = Надёжных отличий главных показателей: { $count }; наименьшее { $smallest }, наибольшее { $largest }.
differences-of-others = Надёжных отличий прочих показателей: { $count }; в таблице видны все.
operations = { $shown }{"\u00A0"}{ $count ->
    [one] операцию
    [few] операции
   *[other] операций
}
work-done = Учтённые повторы сделали { $done } за { $time }; как это проверено, указано в каждом сценарии.
samples-recorded = Кроме того, { $count ->
    [one] записан { $shown } отсчёт
    [few] записано { $shown } отсчёта
   *[other] записано { $shown } отсчётов
} машины и нагрузки; они показаны выше, у своих сценариев.

# Как пишутся числа. Единицы и приставки — каждая со своим названием.

decimal-sign = ,
unit-space = {"\u00A0"}
units =
    op/J = оп/Дж, B/J = Б/Дж, B/CPU-s = Б/с ЦП, op/CPU-s = оп/с ЦП, cycles/B = такт/Б, requests/s = запр/с, CPU-s = с ЦП, cycles = тактов, cores = ядер, B/s = Б/с, op/s = оп/с, Hz = Гц, IOPS = IOPS, B = Б,
    /s = /с, W = Вт, J = Дж, s = с, min = мин, k = тыс., M = млн, G = млрд, T = трлн, k/s = тыс./с, M/s = млн/с, G/s = млрд/с, T/s = трлн/с
prefixes = Ki = Ки, Mi = Ми, Gi = Ги, Ti = Ти, k = к, M = М, G = Г, T = Т, m = м, µ = мк, n = н

# Что снимается с машины во время повтора: по последней части имени показателя.

sampled-available-bytes = Доступная память
sampled-free-bytes = Свободная память
sampled-cached-bytes = Страничный кэш
sampled-dirty-bytes = Несохранённые страницы
sampled-total-bytes = Память всего
sampled-used-bytes = Занятая подкачка
sampled-in-pages = Страниц подкачано
sampled-out-pages = Страниц вытеснено
sampled-memory-bytes = Память
sampled-cpu-ns = Процессорное время
sampled-user-ns = Процессорное время, режим пользователя
sampled-system-ns = Процессорное время, ядро
sampled-throttled-ns = Время под ограничением
sampled-reads = Чтений
sampled-writes = Записей
sampled-read-bytes = Прочитано
sampled-written-bytes = Записано
sampled-in-flight = Операций в работе
sampled-queue-ns = Глубина очереди
sampled-busy-ns = Занятость
sampled-received-bytes = Принято
sampled-sent-bytes = Отправлено
sampled-received-packets = Принято пакетов
sampled-sent-packets = Отправлено пакетов
sampled-cpu-some-ns = Часть задач ждала процессор
sampled-cpu-full-ns = Все задачи ждали процессор
sampled-io-some-ns = Часть задач ждала ввода-вывода
sampled-io-full-ns = Все задачи ждали ввода-вывода
sampled-memory-some-ns = Часть задач ждала памяти
sampled-memory-full-ns = Все задачи ждали памяти
sampled-1m = Средняя загрузка за минуту
sampled-context-switches = Переключений контекста
sampled-frequency-hz = Тактовая частота
sampled-throttles = Замедления от нагрева
sampled-celsius = Температура
sampled-joules = Мощность
sampled-watts = Мощность

# Страницы `stend serve`.
server-language = Русский
server-settings = Настройки
server-sign-in = Войти
server-sign-out = Выйти
server-token = Одноразовый токен
server-wrong-token = Токен неверен или уже использован. При каждом запуске stend serve печатает новый.
server-problem = Не получилось
server-back = На первую страницу
server-nothing-there = Такой страницы нет
server-machines = Машины
server-any-with = любая с меткой
server-machine = Машина
server-idle = свободна
server-running = измеряется
server-waiting = в очереди
server-stopping = остановится после этого повтора
server-finished = завершён
server-failed = не удался
server-stopped = остановлен
server-start-a-run = Новый прогон
server-suite = Набор
server-label = Метка, если прогон один
server-repeats = Повторы
server-sessions = Сессий на каждую машину или состояние
server-session = Сессия
server-scale = Масштаб размеров и длительностей
server-even-if-unfit = Измерять, даже если машина занята
server-sides = Сравнить две конфигурации
server-side-a = Первая сторона
server-side-b = Вторая сторона
server-only = Только сценарии, в имени которых есть
server-order = Заказ полностью
server-own-work = Свой набор, файл заданий, команды или стенд
server-own-kind = Вместо набора
server-own-suite = набор (TOML)
server-own-job-file = файл заданий fio
server-own-commands = команды, по одной в строке
server-own-text = Текст
server-from-file = Из файла
server-prepare = Перед каждым повтором команды
server-rig-text = Стенд, который собирается для прогона и разбирается после него (TOML)
server-states = Измерить два состояния по очереди
server-states-how = Состояния одной машины, например два ядра. Команда приводит машину в своё состояние, может её перезагрузить и ничего не делает, если машина уже в нём. По пять сессий на состояние, если не указано иное.
server-state-name = Имя состояния
server-state-command = Команда состояния
server-own-shown = Будет запущено то, что не входит в stend, — на этой машине и от имени пользователя, который на ней измеряет. Посмотрите и запустите.
server-makes-no-sense = непонятно:
server-variables = Переменные набора
server-start = Запустить
server-queue = Очередь
server-no-jobs = Здесь ещё ничего не запускали.
server-run = Прогон
server-state = Состояние
server-action = Действие
server-stop = Остановить
server-go-on = Продолжить
server-results = Результаты
server-no-runs = Прогонов ещё нет.
server-compare = Сравнить
server-compare-picked = Сравнить выбранные прогоны
server-valid = Годных
server-report = Отчёт
server-scenario = Сценарий
server-value = Значение
server-outcome = Итог
server-warmup = прогрев
server-counts = учтён
server-does-not-count = не учтён
server-log = Журнал
server-token-for = Токен открывает программе API по адресу /api/v1.
server-token-once = Токен показывается только один раз:
server-make-token = Создать токен
server-pages = Страницы
server-schedule = Расписание
server-journal = Журнал
server-access = Пользователи и токены
server-name = Имя
server-password = Пароль
server-wrong-password = Неверное имя или пароль.
server-too-often = Слишком много попыток. Повторите через { $seconds } с.
server-priority = Приоритет, от -10 до 10
server-cron = Повторять (cron), на одной машине
server-one-run-a-time = В строке расписания одна машина и одна сессия.
server-all-of-order = Все прогоны этого заказа
server-preview = Показать план
server-plan = План
server-schedule-of = Время — по часам этой машины: минута, час, день месяца, месяц, день недели.
server-no-lines = В расписании ничего нет.
server-when = Когда
server-next = Следующий запуск
server-never = никогда
server-added-by = Кто добавил
server-remove = Удалить
server-all = Все
server-entry = Запись
server-put-back = Отменить
server-category = Раздел
server-runs = Прогоны
server-verdicts = Вердикты
server-disks = Диски
server-sensors = Датчики
server-users = Пользователи
server-what = Событие
server-no-entries = Записей нет.
server-earlier = Более ранние
server-tokens = Токены
server-user = Пользователь
server-role = Роль
server-viewer = наблюдатель
server-operator = оператор
server-admin = администратор
server-ends = Действует до
server-end = Отозвать
server-days = Дней
server-since = Добавлен
server-own-password = Ваш пароль
server-old-password = Текущий пароль
server-new-password = Новый пароль, не короче 12 знаков
server-change = Изменить
server-password-is-changed = Пароль изменён. Остальные ваши сеансы завершены.
server-password-once = Пароль показывается только один раз. Пользователь может сменить его после входа.
server-no-users = Пользователей пока нет. Первым должен быть администратор; после этого вход — по имени и паролю.
server-reset-password = Новый пароль
server-add-user = Добавить пользователя
server-nobody = владелец сервера
server-journal-server-started = Сервер { $detail } запущен на { $about }
server-journal-server-ended = Сервер на { $about } остановлен
server-journal-run-queued = В очередь поставлен прогон { $about }, набор { $detail } ({ $who })
server-journal-run-began = Начат прогон { $about }, набор { $detail }
server-journal-run-finished = Завершён прогон { $about }, набор { $detail }
server-journal-run-stopped = Остановлен прогон { $about }, набор { $detail } ({ $who })
server-journal-run-failed = Прогон { $about } не удался: { $detail }
server-journal-run-resumed = Продолжен прогон { $about }, набор { $detail } ({ $who })
server-journal-run-taken-over = Прогон { $about } продолжает другой узел вместо { $detail }
server-journal-archive-mended = Файл прогона { $about } на узле { $detail } был повреждён и взят заново с другого узла
server-journal-schedule-added = В расписание добавлен { $detail }, { $about } ({ $who })
server-journal-schedule-removed = Из расписания удалён { $detail }, { $about } ({ $who })
server-journal-schedule-put-back = Отменено изменение из записи { $detail }: расписание, { $about } ({ $who })
server-journal-schedule-refused = Не запущено по расписанию: { $about }: { $detail }
server-journal-run-worse = Прогон { $about } хуже, чем { $detail }
server-journal-rule-refused = Сравнение не выполнено: { $about }: { $detail }
server-journal-disk-failing = Диск { $about } неисправен: { $detail }
server-journal-disk-healthy = Диск { $about } снова исправен: { $detail }
server-journal-sensor-hot = Перегрев, { $about }: { $detail }
server-journal-sensor-cool = Температура снова в норме, { $about }: { $detail }
server-journal-telling-failed = Не доставлено: { $about }, будут новые попытки: { $detail }
server-journal-telling-given-up = Доставка отменена: { $about }, записей: { $detail }
server-journal-signed-in = Вход с адреса { $about }: { $who }, { $detail }
server-journal-sign-in-refused = Неверный пароль: { $about }, с адреса { $detail }
server-journal-user-added = Добавлен пользователь { $about }, { $detail } ({ $who })
server-journal-user-removed = Удалён пользователь { $about } ({ $who })
server-journal-role-changed = Роль пользователя { $about }: { $detail } ({ $who })
server-journal-user-put-back = Отменено изменение из записи { $detail }: пользователь { $about } ({ $who })
server-journal-password-changed = Изменён пароль пользователя { $about } ({ $who })
server-journal-token-made = Создан токен «{ $about }», { $detail } ({ $who })
server-journal-token-ended = Отозван токен «{ $about }» ({ $who })
server-journal-update-offered = Узел { $about } предложил всем узлам { $detail }
server-journal-node-updated = Узел { $about } обновлён: { $detail }
server-journal-update-failed = Узел { $about } не обновлён: { $detail }
server-journal-node-joined = Узел { $about } вошёл в группу
server-journal-node-left = Узел { $about } вышел из группы
server-journal-invited = Создано приглашение в группу узлов: { $about }
server-journal-agent-joined = Агент { $about } вошёл в группу узлов
server-journal-agent-revoked = Доступ агента { $about } отозван
server-progress = Ход выполнения
server-references = Опубликованные машины
server-references-of = Показатели из статей. Справочные данные сравниваются с прогоном там, где измерено одно и то же.
server-compare-newest = Сравнить с последним прогоном
server-rigs = Стенды
server-rigs-of = Хранилище, развёрнутое на этой машине для нагрузки в прогонах, и виртуальные машины, в которых измеряют.
server-rig-has = LUN, адрес
server-screen = Экран
server-screen-open = Соединение установлено: клавиатура и мышь подключены к машине.
server-screen-closed = Соединение завершено. Чтобы подключиться снова, обновите страницу.
server-no-viewer = Экран обновляется каждые две секунды. Чтобы работать с клавиатурой и мышью, установите noVNC там, где запущен stend serve, и обновите страницу:
server-no-rigs = Стендов нет.
server-rig-up = развёрнут
server-rig-off = выключена
server-start-guest = Включить
server-stop-guest = Выключить
server-snapshot = Снимок
server-snapshots = Снимки
server-take-snapshot = Сделать снимок
server-taken = Сделан
server-snapshot-has = Содержит
server-with-memory = диски и память
server-of-disks = диски
server-revert = Вернуться
server-clone = Клонировать
server-name-of-clone = Имя клона
server-clone-of-running = Чтобы клонировать машину, выключите её.
server-migrate = Перенести
server-to-node = На узел
server-rig-left = остался от прерванного прогона
server-rig-half-made = развёрнут не до конца
server-rig-before-boot = остался после перезагрузки
server-take-down = Свернуть
server-set-up = Развернуть стенд
server-kind = Вид
server-rig-file = файлы
server-rig-pool = пул с двумя контроллерами
server-luns = Количество LUN
server-lun-size = Размер LUN
server-disks-of-pool = Дисков в пуле
server-as-of = по состоянию на
server-not-measured = На этой машине ещё ничего не измеряли.
server-check-now = Проверить готовность к измерению
server-history = История
server-show = Показать
server-journal-rig-up = Развёрнут стенд { $about }, { $detail } ({ $who })
server-journal-rig-down = Свёрнут стенд { $about } ({ $who })
server-journal-rig-started = Включена { $about } ({ $who })
server-journal-rig-stopped = Выключена { $about } ({ $who })
server-journal-rig-snapshot = Сделан снимок { $detail } машины { $about } ({ $who })
server-journal-rig-snapshot-removed = Удалён снимок { $detail } машины { $about } ({ $who })
server-journal-rig-reverted = Машина { $about } возвращена к снимку { $detail } ({ $who })
server-journal-rig-cloned = Машина { $about } клонирована: { $detail } ({ $who })
server-journal-rig-migrated = Машина { $about } перенесена на узел { $detail } ({ $who })
server-journal-screen-opened = Открыт экран { $about } ({ $who })
server-journal-run-imported = Импорт: { $about } ({ $who })
server-import = Импортировать прогон
server-import-file = Файл stend export, hyperfine или go test
server-samples = Ряды
server-load = Средняя загрузка за 1, 5 и 15 минут
server-rig = Стенд (если нужен)
server-journal-runs-removed = Удалено прогонов, { $about }: { $detail }

server-nodes = Узлы
server-no-fleet = Этот сервер не входит в группу узлов. Чтобы включить его, запустите stend serve --fleet.
server-at-work = Измеряет
server-version = Версия
server-node = Узел
server-node-load = Загрузка / ядер
server-node-archive = Прогонов в архиве
server-node-free = Свободно
server-node-since = Работает с
server-this-node = этот
server-node-there = на связи
server-node-draining = обновляется
server-agent-through = агент, обращается к узлу
server-node-silent = нет связи
server-node-unknown = отсюда не видно
server-members = Серверы etcd
server-members-of = На них хранится общее состояние узлов: пользователи, очередь, расписание, журнал. Изменения возможны, пока работает больше половины.
server-address = Адрес
server-size = Размер
server-member-leads = ведущий
server-member-follows = ведомый
server-cut-off = Узел потерял связь с остальными. Данные на странице могут быть устаревшими, изменить ничего нельзя, измерения здесь остановлены до восстановления связи.
