//! Every text of the page, in English and Russian. A field is a phrase, and a phrase has both: neither language can lack one.

use stend_stats::Reason;

use super::numbers::russian;
use super::phrase::Phrase;
use super::text;
use crate::compare::table::AgainstBase;
use crate::language::{english_plural, russian_plural};

macro_rules! texts {
    ($($name:ident: $en:literal, $ru:literal;)*) => {
        /// The fixed texts.
        pub(crate) struct Texts {
            $(#[doc = $en] pub(crate) $name: Phrase,)*
        }

        /// The table of texts.
        pub(crate) static TEXTS: Texts = Texts { $($name: Phrase::fixed($en, $ru),)* };

        #[cfg(test)]
        const ALL: &[(&str, Phrase)] = &[$((stringify!($name), Phrase::fixed($en, $ru)),)*];
    };
}

texts! {
    report: "Report of the stand", "Отчёт стенда";
    skip: "Skip to the table", "Перейти к таблице";
    machine: "The machine", "Машина";
    details: "All differences, and what could not be read", "Все отличия и что не удалось прочитать";
    differs: "differs from the base in", "отличается от базы:";
    no_difference: "no difference in hardware or software", "аппаратура и программы не отличаются";
    what: "What", "Что";
    missing: "Could not be read", "Не удалось прочитать";
    session: "Session", "Сессия";
    results: "Results", "Результаты";
    each_figure: "Each figure", "Каждый результат";
    sweeps: "Sweeps", "Перебор параметров";
    heat_caption: "In each cell a median. The stronger the colour, the larger the figure; all runs share the scale.",
        "В клетке – медиана. Чем насыщеннее цвет, тем больше значение; шкала у прогонов общая.";
    curve_title: "Latency over throughput", "Задержка в зависимости от скорости";
    curve_caption: "Each point is a scenario; crosses are 95 % intervals of both medians. Where a curve turns upwards, more load only waits.",
        "Точка – сценарий, кресты – интервалы 95 % обеих медиан. Где кривая загибается вверх, добавочная нагрузка только ждёт.";
    at_points: "At the points:", "У точек:";
    logarithmic: "The upright axis is logarithmic.", "Вертикальная ось логарифмическая.";
    closed: "closed", "закрытая";
    closed_caption: "Hollow, \"closed\": the load at full depth of which the rates are shares; its latency is the queue's.",
        "Полая точка, «закрытая»: нагрузка с полной глубиной, от которой взяты доли; её задержка – это очередь.";
    legend_wide: "Under a figure the 95 % interval of its median in the same unit, or ± the spread where there are fewer than six repeats.",
        "Под результатом – интервал 95 % его медианы в тех же единицах или ± разброс, если повторов меньше шести.";
    filter: "Filter scenarios", "Отбор сценариев";
    all_metrics: "All metrics", "Все показатели";
    scenario: "Scenario", "Сценарий";
    metric: "Metric", "Показатель";
    median: "Median", "Медиана";
    spread: "Spread", "Разброс";
    interval: "95 % interval", "Интервал 95 %";
    base: "Base", "База";
    base_is: "base is", "база:";
    other_runs: "Other runs", "Другие прогоны";
    published: "Published", "Опубликовано";
    unsorted: "Click a column's head to sort by it; a third click restores the suite's order. Click a figure to see what is behind it.",
        "Щёлкните по заголовку столбца, чтобы упорядочить; третий щелчок вернёт порядок набора. Щёлкните по числу, чтобы увидеть, что за ним стоит.";
    better: "better", "лучше";
    worse: "worse", "хуже";
    same: "the same within δ", "одинаково в пределах δ";
    unresolved: "unresolved: the evidence does not say", "не решено: данные этого не говорят";
    legend_delta: "δ: a smaller difference does not matter, or is hidden by what the machine differs from itself by, where that was measured.",
        "δ: разница меньше этой неважна либо скрыта тем, насколько машина отличается от самой себя, если это измерено.";
    legend_published: "× 2.00 beside a published figure: the base is twice as good – twice the throughput, or half the time; below 1 it is worse. There are no samples to test, so there is no mark and no colour.",
        "× 2,00 у опубликованного числа: база вдвое лучше – вдвое выше скорость или вдвое меньше время; меньше 1 – хуже. Измерений для проверки нет, поэтому нет ни знака, ни цвета.";
    legend_count: "n: valid repeats, of all that were measured. * : a value lies far from the rest; it counts.",
        "n: годные повторы, из всех измеренных. * : значение далеко от остальных; оно учтено.";
    nothing: "Nothing was measured.", "Ничего не измерено.";
    too_few: "fewer than six repeats", "меньше шести повторов";
    left_out: "Not in all runs", "Есть не во всех прогонах";
    notes: "Before you read the table", "Прежде чем читать таблицу";
    not_measured: "Without a figure", "Без результата";
    remedy: "to mend it:", "что поможет:";
    scenarios: "Scenarios", "Сценарии";
    expand: "Open all", "Раскрыть все";
    collapse: "Close all", "Свернуть все";
    to_top: "To the table", "К таблице";
    measures: "Measures", "Измеряет";
    instrument: "Instrument", "Инструмент";
    parameters: "Parameters", "Параметры";
    higher: "higher is better", "больше – лучше";
    lower: "lower is better", "меньше – лучше";
    figures: "Figures", "Результаты";
    run_or_machine: "Run or machine", "Прогон или машина";
    range: "Lowest … highest", "Мин. … макс.";
    against: "Against the base", "Относительно базы";
    note: "Note", "Примечание";
    repeats: "Repeats", "Повторы";
    repeats_caption: "Each dot is a repeat, in the order in which they were made; hollow ones do not count. Line: median.",
        "Точка – повтор, в порядке измерения; пустые не учитываются. Линия – медиана.";
    repeats_band: "Band: its 95 % interval.", "Полоса – её интервал 95 %.";
    not_from_zero: "The axis does not begin at zero.", "Ось начинается не с нуля.";
    latency: "How long single operations took", "Сколько длились отдельные операции";
    latency_steps_caption: "All operations of the repeats that count, put together, but for the outermost ten-thousandth at either end. The area of a step is the share of the operations that lie in it.",
        "Все операции учтённых повторов вместе, кроме крайних десятитысячных долей с обоих концов. Площадь ступени – доля операций, попавших в неё.";
    latency_curve_caption: "The same as percentiles. Each mark to the right leaves a tenth as many operations beyond it. Bars: 95 % intervals; they take operations for independent, so a percentile may be off by more.",
        "То же перцентилями. За каждой следующей отметкой остаётся вдесятеро меньше операций. Отрезки – интервалы 95 %: они считают операции независимыми, так что ошибка перцентиля может быть и больше.";
    latency_steps_short: "All operations of the repeats that count, but for the outermost ten-thousandth at either end. Area: share of the operations.",
        "Все операции учтённых повторов, кроме крайних десятитысячных долей с обоих концов. Площадь – доля операций.";
    latency_percentiles: "Percentiles", "Перцентили";
    latency_curve_short: "Each mark to the right leaves a tenth as many operations beyond it. Bars: 95 % intervals, at least that wide.",
        "За каждой следующей отметкой вдесятеро меньше операций. Отрезки – интервалы 95 %, в действительности не уже.";
    latency_untold: "A percentile is told where at least ten operations lie beyond it: p99.99 takes 100,000.",
        "Перцентиль назван, если за ним лежит хотя бы десять операций: для p99.99 их нужно 100 000.";
    operations: "Operations", "Операции";
    longest: "Longest", "Самая долгая";
    history: "History of one metric", "История одного показателя";
    history_caption: "A dot is a run: the median of its repeats that count, with its 95 % interval. Runs stand at equal distances, however long nobody measured. Dashed: the level between changes.",
        "Точка – прогон: медиана его годных повторов с интервалом 95 %. Прогоны стоят через равные промежутки, сколько бы между ними ни прошло времени. Пунктир – уровень между переменами.";
    history_changes: "Where the level changed", "Где менялся уровень";
    history_runs: "The runs", "Прогоны";
    history_run: "Run", "Прогон";
    history_change: "Change", "Перемена";
    number: "No.", "№";
    started: "Started, UTC", "Начат, UTC";
    value: "Value", "Значение";
    wall: "Wall time", "Длительность";
    outcome: "Outcome", "Исход";
    check: "Check", "Проверка";
    warmup: "warm-up", "прогрев";
    valid: "valid", "годен";
    invalid: "invalid", "негоден";
    failed: "failed", "не удался";
    check_passed: "passed", "пройдена";
    check_failed: "failed", "не пройдена";
    check_none: "not checked", "нет";
    error_output: "Standard error", "Поток ошибок";
    command: "Command", "Команда";
    faults: "What faults did", "Что сделали отказы";
    evidence: "What was checked", "Что проверено";
    each_repeat: "Of each repeat", "По каждому повтору";
    build: "Build of what was measured", "Сборка измеренного";
    series_instrument: "Observed by the instrument", "Записано инструментом";
    series_machine: "Observed on the machine", "Записано на машине";
    series_caption: "Repeats stand one after the other; the time between them is left out. Grey: warm-up. Orange and ✕: does not count.",
        "Повторы идут подряд, время между ними опущено. Серое – прогрев, оранжевое и ✕ – не учитывается.";
    no_series: "No samples were recorded.", "Отсчёты не записаны.";
    constant: "Unchanged throughout:", "Не менялось:";
    charts_by_script: "The other drawings of these samples are made by the page's script.", "Остальные графики этих отсчётов строит скрипт страницы.";
    nothing_differs: "Nothing differs: every figure is the same within its floor δ.", "Ничего не отличается: все результаты одинаковы в пределах своего порога δ.";
    some_unresolved: "No difference is sure: no figure is better or worse, but not all are shown to be the same.",
        "Надёжных отличий нет: ни один результат не лучше и не хуже, но и одинаковость показана не для всех.";
    all_unresolved: "Nothing is settled: whether any figure is better, worse or the same is unresolved.",
        "Ничего не решено: неизвестно, какие результаты лучше, хуже или одинаковы.";
    differing_first: "What differs first", "Сначала отличия";
    weighing: "Per watt and per price", "На ватт и на цену";
    timeline: "On one axis of time", "На одной оси времени";
    timeline_caption: "Lines through all rows: what happened, numbered as in the list. Shaded: run-up, and what came after the measured part. Every row but latency and memory begins at zero; those two are logarithmic. A window in which not all jobs of the load completed an operation has no sum and is left out: with few and long operations these are most.",
        "Линии через все графики – события под номерами из списка. Затенено – разгон и то, что было после измеренного участка. Все графики начинаются с нуля, кроме задержки и памяти: они логарифмические. Окно, в котором хотя бы один поток нагрузки не завершил ни одной операции, суммы не имеет и опущено; при редких долгих операциях таких большинство.";
    timeline_iops: "Operations a second", "Операций в секунду";
    timeline_luns: "Operations a second of each LUN", "Операций в секунду по LUN";
    timeline_bytes: "Throughput", "Пропускная способность";
    timeline_latency: "Latency", "Задержка";
    timeline_shares: "Who used the CPU time, % of the whole machine", "Кто занимал процессоры, % всей машины";
    timeline_memory: "Memory", "Память";
    timeline_queue: "Operations in flight at the disks, mean", "Операций в очереди дисков, в среднем";
    timeline_busy: "Time in which the disks were busy, %", "Занятость дисков, %";
    together: "all together", "все вместе";
    reads: "reads", "чтение";
    writes: "writes", "запись";
    trims: "trims", "освобождение";
    load: "load", "нагрузка";
    controllers: "controllers", "контроллеры";
    others: "other programs and the kernel", "прочие программы и ядро";
    machine_used: "in use on the machine", "занято на машине";
    pool_disks: "disks of the pool", "диски пула";
    lun_devices: "devices of the LUNs", "устройства LUN";
    happened: "What happened", "Что произошло";
    repeat_word: "repeat", "повтор";
    cpu: "CPU time, % of the whole machine", "Процессорное время, % всей машины";
    each_cpu: "of each CPU", "по процессорам";
    each_lun: "of each LUN", "по LUN";
    each_cpu_busy: "Busy time of each CPU, %", "Занятость каждого процессора, %";
    lowest: "lowest", "наименьшее";
    mean: "mean", "среднее";
    highest: "highest", "наибольшее";
    busy: "busy", "занято";
    user: "user", "пользователь";
    system: "kernel", "ядро";
    iowait: "waiting for disks", "ожидание дисков";
    steal: "taken by the hypervisor", "отнято гипервизором";
    slope: "growth by the second", "прирост за секунду";
    time_goes: "Where the time goes", "Куда уходит время";
    not_seen: "Not seen", "Не видно";
    flame_caption: "After all repeats the instrument was started once more under perf; that counts for nothing. A box is as wide as its share of the samples, and what it called stands on it. Orange is the kernel, other colours are the programs.",
        "После всех повторов инструмент запущен ещё раз под perf; в результатах это не учтено. Ширина прямоугольника – доля отсчётов, над ним стоит то, что он вызвал. Оранжевое – ядро, остальные цвета – программы.";
    flame_timer: "The samples are a timer's: those of a stretch with interrupts off fall on the function that allows them again.",
        "Отсчёты делает таймер: те, что попали на участок с запрещёнными прерываниями, достаются функции, которая их снова разрешает.";
    function: "Function", "Функция";
    in_itself: "In itself", "Сама";
    with_callees: "With what it calls", "Вместе с вызванными";
    part: "Part", "Часть";
    system_call: "System call", "Системный вызов";
    share: "Share", "Доля";
    time: "Time", "Время";
    calls: "Calls", "Вызовов";
    call_errors: "Errors", "Ошибок";
    each_call: "Each", "Один";
    calls_caption: "Counted by strace, after all repeats, over the whole command. It slows every call, so shares tell more than times; waiting in a call is in its time.",
        "Сосчитано программой strace после всех повторов, за всё время команды. Она замедляет каждый вызов, поэтому доли важнее времён; ожидание внутри вызова входит в его время.";
    sources: "Published sources", "Опубликованные источники";
    method: "Method", "Метод";
    method_point: "A figure is the median of the valid repeats. Spread is 1.4826 × the median absolute deviation over the median. The 95 % interval of a median comes from order statistics and takes six repeats.",
        "Результат – медиана годных повторов. Разброс – 1,4826 × медиана абсолютных отклонений, делённая на медиану. Интервал 95 % для медианы – по порядковым статистикам, нужно шесть повторов.";
    method_verdict: "Better or worse is said only where all three hold: the exact Mann–Whitney test, corrected for the whole table by Benjamini and Hochberg, gives q < 0.05; the whole 95 % interval of the ratio lies beyond the floor δ; and beyond the drift, by which the runs differ from themselves, first half against second, even when the interval is widened because neighbouring repeats resemble each other. Same: the whole interval lies within δ. All else is unresolved. δ is 1 %, or more where the suite says so or `stend noise` has measured that the machine differs from itself by more; what is the same within that cannot be told apart there.",
        "«Лучше» и «хуже» – только если верно всё сразу: точный критерий Манна–Уитни с поправкой Бенджамини–Хохберга на всю таблицу даёт q < 0,05; весь интервал 95 % для отношения лежит за порогом δ; и за дрейфом – тем, насколько прогоны отличаются от самих себя, первая половина от второй, даже если интервал расширен оттого, что соседние повторы похожи друг на друга. «Одинаково»: весь интервал внутри δ. Остальное не решено. δ – 1 % или больше, если так сказано в наборе или если `stend noise` измерил, что машина отличается от самой себя на большее; одинаковое в таких пределах на ней неразличимо.";
    method_pairs: "The two sides of one run are compared as pairs of neighbours. Better or worse is said only where both hold: Wilcoxon's signed-rank test of the pairs, corrected for the whole table by Benjamini and Hochberg, gives q < 0.05; and the whole 95 % interval of the ratio lies beyond the floor δ. Drift is not asked about: it hits both of a pair alike. Same: the whole interval lies within δ. All else is unresolved. δ is 1 %, or more where the suite says so or `stend noise` has measured that the machine differs from itself by more; what is the same within that cannot be told apart there.",
        "Две стороны одного прогона сравниваются парами соседних повторов. «Лучше» и «хуже» – только если верно и то и другое: критерий знаковых рангов Уилкоксона для пар с поправкой Бенджамини–Хохберга на всю таблицу даёт q < 0,05; и весь интервал 95 % для отношения лежит за порогом δ. О дрейфе речи нет: оба повтора пары он задевает одинаково. «Одинаково»: весь интервал внутри δ. Остальное не решено. δ – 1 % или больше, если так сказано в наборе или если `stend noise` измерил, что машина отличается от самой себя на большее; одинаковое в таких пределах на ней неразличимо.";
    method_invalid: "A repeat is invalid if its verification failed or a gate closed: throttling, CPU time taken by the hypervisor or by other programs, swapping, a falling clock. Invalid repeats are kept and shown, and never counted. Outliers are marked by Tukey's rule and never dropped.",
        "Повтор негоден, если не прошла проверка или превышен предел: троттлинг, время, отнятое гипервизором или чужими программами, подкачка, падение частоты. Негодные повторы хранятся и показываются, но не учитываются. Выбросы отмечены по правилу Тьюки и не отброшены.";
    legend_grade: "The letter in a column's head is its grade of evidence: A – samples from two or more sessions with a boot of the machine in between; B – samples without a boot in between; C – a published figure with its spread; D – a single published number.",
        "Буква в заголовке столбца – степень доказательности: A – измерения в двух и более сессиях, между которыми машина перезагружалась; B – без перезагрузки; C – опубликованное число с разбросом; D – одно опубликованное число.";
    method_charts: "Counters are drawn as their growth by the second, broken where a counter was reset; gauges as they are; of metrics of each CPU the lowest, the mean and the highest. Of many samples the first, the last, the lowest and the highest of each part of the line are drawn, so every peak is there; a closer look draws them all.",
        "Счётчики показаны приростом за секунду, с разрывом при сбросе; прочее – как есть; у показателей отдельных процессоров – наименьшее, среднее и наибольшее. Из многих отсчётов на каждом отрезке остаются первый, последний, наименьший и наибольший, так что все пики на месте; вблизи показаны все.";
    questions: "What to ask of every benchmark", "О чём спросить любой бенчмарк";
    questions_source: "The list of questions is Brendan Gregg's (\"Evaluating the Evaluation: A Benchmarking Checklist\", 2018); the answers come from the data of this page.",
        "Список вопросов – Брендана Грегга («Evaluating the Evaluation: A Benchmarking Checklist», 2018), ответы взяты из данных этой страницы.";
    ask_double: "Why is it not twice as fast?", "Почему не вдвое быстрее?";
    ask_limits: "Is the figure somebody else's limit, or more than is possible?", "Не чужой ли это предел и возможен ли такой результат вообще?";
    ask_errors: "Were there errors?", "Были ли ошибки?";
    ask_reproduce: "Will it come out the same again?", "Получится ли то же ещё раз?";
    ask_matter: "Does it matter?", "Важно ли это?";
    ask_happened: "Did it happen at all?", "А было ли это вообще?";
    no_profile: "No profile was made; `stend run --profile` shows which functions the time goes to.",
        "Профиль не снят; `stend run --profile` покажет, на какие функции уходит время.";
    see_profiles: "Profiles show which functions the time goes to; they stand with their scenarios.",
        "На какие функции уходит время, показывают профили; они стоят при своих сценариях.";
    no_loader: "No instrument of these runs has a load generator beside what it measures, or it does not tell its share of the CPU time.",
        "Ни у одного инструмента этих прогонов нет отдельного генератора нагрузки, или он не сообщает свою долю процессорного времени.";
    below_ceilings: "No figure is above its ceiling.", "Ни один результат не выше своего потолка.";
    one_boot: "Sessions of one boot cannot show what changes from boot to boot; another one, after a restart, would.",
        "Сессии одной загрузки не покажут того, что меняется от загрузки к загрузке; покажет ещё одна, после перезапуска.";
    none_sure: "No difference of a main metric is sure.", "Ни у одного главного показателя надёжных отличий нет.";
    not_compared: "Nothing is compared with another run here, so no difference is called.",
        "С другим прогоном здесь ничего не сравнивается, так что и отличий нет.";
    how_computed: "How figures and verdicts are made", "Как получены результаты и вердикты";
    same_machine: "no difference was found in hardware or software, so this is one machine at different times",
        "ни в аппаратуре, ни в программах отличий не найдено: это одна машина в разное время";
    same_machine_in_turns: "the same machine, set differently and measured in turns; the notes say what each side sets",
        "та же машина с другими настройками, измеренная попеременно; что задаёт каждая сторона, сказано в примечаниях";
    show_only: "Only", "Только";
    only_better: "better", "лучше";
    only_worse: "worse", "хуже";
    only_same: "the same", "одинаково";
    only_unresolved: "unresolved", "не решено";
    rows_shown: "Rows shown:", "Показано строк:";
    none_shown: "No row has these words and such a verdict.", "Строк с такими словами и вердиктом нет.";
    why: "What is to be said, and why", "Что можно сказать и почему";
    histogram: "How the values are distributed", "Как распределены значения";
    histogram_caption: "How many of the repeats that count lie in each step of the axis.",
        "Сколько учтённых повторов попало в каждый шаг оси.";
    gate_steal: "Taken by the hypervisor", "Отнял гипервизор";
    gate_foreign: "Used by others", "Заняли другие";
    gate_fall: "Clock fell by", "Частота упала на";
    gate_swapping: "Pages swapped", "Страниц подкачано";
    gate_throttling: "Throttled, times", "Троттлинг, раз";
    gates_caption: "With ≤: beyond this limit a repeat does not count. Shares are of the CPU time of the whole machine; less than two ticks of the kernel on each CPU do no harm.",
        "После ≤ – предел, за которым повтор не учитывается. Доли – от процессорного времени всей машины; меньше двух тиков ядра на процессор нарушением не считается.";
    close: "Close", "Закрыть";
    copy: "Copy", "Скопировать";
    job_file: "The job file that the command names is gone with the repeat. Made anew from what the run keeps, it is this; where it has ${LUN1} and so on, these are the LUNs:",
        "Файла задания, который назван в команде, после повтора уже нет. Восстановленный из того, что хранит прогон, он таков; ${LUN1} и далее, если они в нём есть, – это LUN:";
    copied: "Copied", "Скопировано";
    series: "What happened meanwhile", "Что происходило";
    on_paper: "Drawings of single metrics are left out on paper; the file shows them.",
        "Графики отдельных показателей на бумаге опущены, они есть в файле.";
    moment: "Moment", "Момент";
    zoom_in: "Closer", "Ближе";
    zoom_out: "Farther", "Дальше";
    earlier: "Earlier", "Раньше";
    later: "Later", "Позже";
    whole: "Whole axis", "Вся ось";
    axis_hint: "All drawings of a run have one axis of time. Point at it, or move the slider with the arrow keys, for the values at a moment; drag across a drawing to see that part alone. Runs beside each other show the same part of the same repeats.",
        "У всех графиков прогона одна ось времени. Наведите указатель или двигайте ползунок стрелками, чтобы увидеть значения в этот момент; проведите по графику, чтобы рассмотреть его часть. Прогоны рядом показывают ту же часть тех же повторов.";
    none_of_these: "This run has none of the repeats that the other one shows, so its whole axis is here.",
        "Ни одного из повторов, показанных у другого прогона, здесь нет, поэтому видна вся ось.";
    generated: "Written by stend", "Составлено программой stend";
    open_on_paper: "On paper are those scenarios that were open when the page was printed.",
        "На бумаге – те сценарии, что при печати страницы были раскрыты.";
}

/// The page's first sentence.
pub(crate) struct Summary<'a> {
    /// Scenarios with a figure.
    pub(crate) measured: usize,
    /// Scenarios without one.
    pub(crate) skipped: usize,
    /// Why most have none, where no scenario has one.
    pub(crate) why: Option<Phrase>,
    /// The machine's title.
    pub(crate) machine: &'a str,
    /// When the run began.
    pub(crate) moment: Option<String>,
    /// The evidence grade's letter.
    pub(crate) grade: String,
    /// In how many sessions it was measured.
    pub(crate) sessions: Phrase,
}

impl Summary<'_> {
    /// In plain words.
    pub(crate) fn phrase(&self) -> Phrase {
        let Self { measured, skipped, why, machine, moment, grade, sessions } = self;
        let (on_en, on_ru) =
            moment.as_ref().map_or_else(Default::default, |moment| (format!(", {moment}"), format!(", {moment}")));
        let (skipped_en, skipped_ru) = match skipped {
            0 => (String::new(), String::new()),
            1 => ("; 1 has no figure".into(), "; 1 без результата".into()),
            n => (format!("; {n} have no figure"), format!("; {n} без результата")),
        };
        let (why_en, why_ru) = why.as_ref().map_or_else(Default::default, |why| {
            let [often_en, often_ru] = if *skipped > 1 { ["most often ", "чаще всего "] } else { [""; 2] };
            (format!(" ({often_en}{})", why.en), format!(" ({often_ru}{})", why.ru))
        });
        Phrase::new(
            format!(
                "{} measured on {machine}{on_en}{skipped_en}{why_en}; evidence grade {grade}: {}.",
                english_plural(*measured, "scenario", "scenarios"),
                sessions.en
            ),
            format!(
                "{} {measured} {} на машине {machine}{on_ru}{skipped_ru}{why_ru}; степень доказательности {grade}: {}.",
                if measured % 10 == 1 && measured % 100 != 11 { "Измерен" } else { "Измерено" },
                russian_plural(*measured, "сценарий", "сценария", "сценариев"),
                sessions.ru,
            ),
        )
    }
}

/// What an unresolved comparison would take.
pub(crate) fn to_settle(against: &AgainstBase) -> Option<Phrase> {
    // Of fewer than six it is said already that a verdict takes six.
    let repeats = against.repeats_needed.filter(|_| against.reason != Reason::TooFewRepeats)?;
    Some(Phrase::new(
        format!("about {repeats} repeats on each side would settle it"),
        format!(
            "хватило бы примерно {repeats} {} с каждой стороны",
            russian_plural(repeats as usize, "повтора", "повторов", "повторов")
        ),
    ))
}

/// How long a series is, and how much of it is drawn.
pub(crate) fn drawn(lowest: &str, highest: &str, samples: &str, points: Option<&str>) -> Phrase {
    let (en, ru) =
        points.map_or_else(Default::default, |points| (format!(", {points} drawn"), format!(", показано {points}")));
    Phrase::new(
        format!("lowest {lowest}, highest {highest}; {samples} samples{en}"),
        format!("наименьшее {}, наибольшее {}; отсчётов {samples}{ru}", russian(lowest), russian(highest)),
    )
}

/// A caption, with a warning where the axis begins elsewhere than at zero.
pub(super) fn with_axis(caption: &Phrase, bottom: f64) -> Phrase {
    if bottom == 0.0 { caption.clone() } else { caption.followed_by(&TEXTS.not_from_zero) }
}

/// How many operations a histogram has, and in how many repeats.
pub(super) fn merged_of(operations: u64, repeats: usize) -> Phrase {
    let count = text::grouped(usize::try_from(operations).unwrap_or(usize::MAX));
    Phrase::new(
        format!("{count} in {}", english_plural(repeats, "repeat", "repeats")),
        format!("{count} за {repeats} {}", russian_plural(repeats, "повтор", "повтора", "повторов")),
    )
}

/// Curves that are not drawn, because more could not be told apart.
pub(super) fn curves_left_out(count: usize) -> Phrase {
    Phrase::new(
        format!("Curves not drawn, for there are too many: {count}."),
        format!("Не нарисовано, так как их слишком много, кривых: {count}."),
    )
}

/// Which axis goes down and which goes across.
pub(super) fn axes(down: &str, across: &str) -> Phrase {
    Phrase::new(format!("Down: {down}; across: {across}"), format!("Вниз: {down}; вправо: {across}"))
}

/// The name of a curve: the latency, and of which value of another axis.
pub(super) fn curve_of(metric: &str, of: Option<(&str, &str)>) -> Phrase {
    let name = match of {
        Some((axis, value)) => format!("{metric}, {axis} {value}"),
        None => metric.to_owned(),
    };
    Phrase::new(name.clone(), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_are_complete_and_differ() {
        for (name, phrase) in ALL {
            assert!(!phrase.en.trim().is_empty() && !phrase.ru.trim().is_empty(), "{name}");
            assert!(
                phrase.en.is_ascii() || !phrase.en.chars().any(|c| ('а'..='я').contains(&c)),
                "{name} mixes languages"
            );
            assert!(phrase.ru.chars().any(|c| ('а'..='я').contains(&c) || c == '№'), "{name} has no Russian");
        }
    }

    #[test]
    fn the_summary_counts_in_both_languages() {
        let summary = |measured, skipped, sessions: [u32; 2]| {
            let sessions = text::sessions_of(sessions[0], sessions[1]);
            let moment = Some("2026-11-21 05:55 UTC".into());
            Summary { measured, skipped, why: None, machine: "pc-7", moment, grade: "B".into(), sessions }.phrase()
        };
        let two = summary(14, 2, [1, 1]);
        assert_eq!(
            two.en,
            "14 scenarios measured on pc-7, 2026-11-21 05:55 UTC; 2 have no figure; evidence grade B: one session."
        );
        assert_eq!(
            two.ru,
            "Измерено 14 сценариев на машине pc-7, 2026-11-21 05:55 UTC; 2 без результата; степень доказательности B: одна сессия."
        );
        let one = summary(1, 0, [6, 1]);
        assert!(
            one.ru.starts_with("Измерен 1 сценарий ") && one.en.ends_with(" B: 6 sessions, no boot seen in between.")
        );
        assert!(one.ru.ends_with(": 6 сессий, перезагрузок между ними не видно."), "{}", one.ru);
        let over_boots = summary(1, 0, [3, 2]);
        assert!(
            over_boots.en.ends_with(": 3 sessions over 2 boots.") && over_boots.ru.ends_with(": 3 сессии, 2 загрузки.")
        );
    }
}
