# Почему повтор не засчитан или не измерен. Слова программы, если она что-то сказала, идут следом после двоеточия.

cause-steal = гипервизор отнял { PERCENT($share) } процессорного времени машины
cause-foreign-cpu = посторонние программы заняли { PERCENT($share) } процессорного времени машины
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
cause-metric-missing = инструмент не сообщил того, что нужно показателю «{ $metric }» ({ $value })
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
cause-no-event = напечатана строка, которая не является событием
cause-second-begin = напечатано второе событие «begin»
cause-no-begin = не напечатано событие «begin»
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
cause-fio-figure = по отчёту fio «{ $name }» равно { $figure }, а это не количество
cause-fio-luns-read = fio прочёл повторно { $count } LUN вместо { $wanted }
cause-fio-bytes-read = в { $job } fio пытался прочесть { $tried } байт из { $wanted }, а отчитался за { $accounted }
cause-fio-file-missing = fio не записал { $file }
cause-openssl-processes = openssl speed считал в { $count } процессах вместо { $wanted }
cause-openssl-count = openssl speed насчитал операций: { $operations } за { $seconds } с из { $wanted } с
cause-gzip-untimed = gzip не занял никакого времени: программа-сторож его не измерила
cause-not-read-again = { $tool } не читает повторно то, что записал

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
cause-parameter-lacking = нет параметра «{ $parameter }», который задаёт одна из сторон
cause-not-native = это не собственный инструмент stend, а стороны различаются тем, чем такие собраны
cause-not-on-target = сценарий не нагружает хранилище, а стороны различаются именно им
cause-faults-need-lab = для отказов нужна лаборатория на связи
cause-tools-need-lab = для настоящих программ нужна лаборатория на связи: она читает то, что они печатают

cause-tool-missing = программы { $tool } нет в PATH машины
cause-tool-forbidden = { $tool } здесь запрещён
cause-tool-broken = { $tool } здесь не работает
cause-tool-silent = { $tool } ничего не зафиксировал
cause-kernel-unseen = perf не может заглянуть в ядро (kernel.perf_event_paranoid: { $level })
cause-kernel-nameless = ядро скрывает имена своих функций (kernel.kptr_restrict: { $level })

# На что потеряны повторы.

lost = { $run }: не засчитано измеренных повторов: { $repeats } из { $of } ({ $to })
lost-steal = отнятое время: { $count }
lost-foreign-cpu = посторонние программы: { $count }
lost-clock-fell = падение частоты: { $count }
lost-swapping = подкачка: { $count }
lost-throttling = троттлинг: { $count }
lost-work = неверная или непроверенная работа: { $count }
lost-failure = отказ инструмента: { $count }
lost-other = другие причины: { $count }

# Какова машина перед измерением: название, что обнаружено, и что делать или что это значит.

condition-machine = машина
    .value = { $said }
    .advice = она должна быть доступна, и на ней нужна оболочка POSIX
condition-load = средняя загрузка
    .value = { FIXED($average) } за последнюю минуту, аппаратных потоков: { $threads }
    .advice = дождитесь тишины или остановите посторонние программы
condition-foreign-load = посторонние программы
    .value = { PERCENT($share) } процессорного времени
    .advice = остановите их{ $limit ->
        [none] {""}
       *[other] : выше { PERCENT($limit) } ни один повтор не засчитывается
    }
condition-steal = отнятое время
    .value = { PERCENT($share) } процессорного времени
    .advice = хозяин отдаёт время этой виртуальной машины другим{ $limit ->
        [none] {""}
       *[other] : выше { PERCENT($limit) } ни один повтор не засчитывается
    }
condition-pressure = { $resource ->
    [cpu] ожидание процессора
    [io] ожидание ввода-вывода
   *[memory] ожидание памяти
}
    .value = { PERCENT($share) } последних 10 с что-то ждало
    .advice = дождитесь тишины или остановите посторонние программы
condition-swap = подкачка
    .value = { $total ->
        [0] места нет
       *[other] занято { MIB($used) } из { MIB($total) } МиБ
    }
    .advice = { $pages ->
        [0] выгруженное может вернуться во время повтора: swapoff -a && swapon -a
       *[other] машина подкачивает: освободите память, иначе повторы не засчитываются
    }
condition-free-memory = свободная память
    .value = доступно { MIB($available) } из { MIB($total) } МиБ
    .advice = освободите память, иначе машина начнёт подкачивать
condition-results-space = место для результатов
    .value = { SIZE($available) } в { $mount }
    .advice = освободите место или храните результаты в другом: --store
condition-load-space = место для нагрузки
    .value = { SIZE($available) } в { $mount }{ $needed ->
        [0] {""}
       *[other] ; файлам в { $directory } нужно { SIZE($needed) }
    }
    .advice = освободите место или { $needed ->
        [0] укажите в STEND_WORK другой каталог
       *[other] { $job_file ->
            [true] держите файлы в другом (STEND_WORK или directory= в файле заданий) или уменьшите их (--set size=1GiB, LUN — --set lun_size=1GiB)
           *[false] держите файлы в другом (STEND_WORK или «directory» у fio) или уменьшите их (--scale, --only)
        }
    }
condition-results-unwritable = место для результатов
    .value = в { $path } нельзя писать
    .advice = храните результаты в другом: --store
condition-load-unwritable = место для нагрузки
    .value = в { $path } нельзя писать
    .advice = укажите в STEND_WORK или в «directory» у fio другой каталог
condition-governor = регулятор частоты
    .value = { $governors ->
        [none] не виден: частотой управляет хозяин или прошивка
       *[other] { $governors }
    }
    .advice = включите performance: cpupower frequency-set -g performance
condition-frequency-limit = ограничение частоты
    .value = разрешено { MEGAHERTZ($allowed_hz) } из { MEGAHERTZ($possible_hz) } МГц
    .advice = частота ограничена кем-то или нагревом: cpupower frequency-info
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
        [true] слишком жарко: охладите машину, иначе повторы не засчитываются
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
    .advice = остальные закрыты контейнером или привязкой
condition-clock-source = источник времени
    .value = { $name }
    .advice = читается медленно или грубо: в журнале ядра сказано, почему не взят лучший
condition-virtualization = виртуализация
    .value = { $by ->
        [none] признаков нет
       *[other] { $by }{ $known ->
            [true] ; соседи по хозяину могут мешать
           *[false] {""}
        }
    }
    .advice = что ещё работает на хозяине, неизвестно
condition-huge-pages = прозрачные большие страницы
    .value = { $setting }
condition-address-randomization = случайное размещение адресов
    .value = { $setting ->
        [0] выключено
        [1] стек и библиотеки
        [2] полное
       *[other] { $setting }
    }
condition-other-labs = другие измерения
    .value = не идут
condition-lab-at-work = другие измерения
    .value = { $said }
condition-lab-unknown = другие измерения
    .value = неизвестно: есть файл { $path }, но ещё нет stend-probe, который сказал бы, кто его держит
    .advice = первый прогон на машине соберёт его и откажется работать, если измерения идут
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
check-answer-right = этот OpenSSL верно вычисляет { $vector ->
    [sp-800-38a] тестовый вектор этого шифра из NIST SP 800-38A
    [cavp-gmac] тестовый вектор этого шифра из NIST CAVP, без открытого текста (GMAC)
   *[other] дайджест строки abc из { $vector }
}; операции измеряемого цикла сосчитаны, их результаты не проверяются
check-answer-impossible = командная строка этого OpenSSL не может вычислить { $vector ->
    [sp-800-38a] тестовый вектор этого шифра из NIST SP 800-38A
    [cavp-gmac] тестовый вектор этого шифра из NIST CAVP, без открытого текста (GMAC)
   *[other] дайджест строки abc из { $vector }
}
check-answer-wrong = { $vector ->
    [sp-800-38a] тестовый вектор этого шифра из NIST SP 800-38A
    [cavp-gmac] тестовый вектор этого шифра из NIST CAVP, без открытого текста (GMAC)
   *[other] дайджест строки abc из { $vector }
}: верно { $right }, этот OpenSSL вычисляет { $computed }
check-gzip-trailer = по хвосту gzip CRC-32 { $crc32 }, байт { $bytes }; у страниц { $pages_crc32 } и { $pages_bytes }

check-fio-counts = { $direction ->
    [read] чтение
    [write] запись
   *[other] { $direction }
}: операций { $operations }{ $block ->
    [none] {""}
   *[other] {" "}по { $block } Б
}, сосчитано байт: { $bytes }, неполных { $short }, потерянных { $dropped }
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
check-stands = по смещению { $offset } в { $file } стоит: { $what }
check-more-stand = и ещё в нескольких местах: { $places }
stood-unreadable = не читается
stood-part = только часть блока
stood-written = то, что повтор { $repeat } прогона { $run } записал в { $lun } по смещению { $offset }
stood-bits-turned = перевёрнуто битов блока: { $bits }, первый в байте { $first }
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
