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
cause-fio-data-wrong = задание fio «{ $job }» прочло не те данные, что были записаны
cause-fio-idle = fio не выполнил ни одной операции
cause-fio-figure = по отчёту fio «{ $name }» равно { $figure }, а это не количество
cause-fio-luns-read = fio прочёл повторно { $count } LUN вместо { $wanted }
cause-fio-bytes-read = в { $job } fio пытался прочесть { $tried } байт из { $wanted }, а отчитался за { $accounted }
cause-fio-file-missing = fio не записал { $file }
cause-openssl-processes = openssl speed считал в { $count } процессах вместо { $wanted }
cause-openssl-count = openssl speed насчитал операций: { $operations } за { $seconds } с из { $wanted } с
cause-gzip-untimed = gzip не занял никакого времени: программа-сторож его не измерила
cause-not-read-again = { $tool } не читает повторно то, что записал

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
