/* morse: the command line. */
#include "fail.h"
#include "filter.h"
#include "wave.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
	"NAME\n"
	"  morse - text to Morse code and back\n"
	"\n"
	"SYNOPSIS\n"
	"  morse encode [OPTION...] [FILE...]\n"
	"  morse decode [OPTION...] [FILE...]\n"
	"  morse alphabets\n"
	"  morse backends\n"
	"\n"
	"DESCRIPTION\n"
	"  Reads the FILEs one after the other, or standard input if there is none or a name is \"-\", and writes to standard\n"
	"  output. Text is UTF-8. Code consists of '.' and '-', with a space between letters and \" / \" between words; line ends\n"
	"  are kept. Small letters are encoded as capitals, and decoding gives capitals.\n"
	"  \"Hi, you\" is: .... .. --..-- / -.-- --- ..-\n"
	"\n"
	"OPTIONS\n"
	"  --alphabet itu|ru      itu: ITU-R M.1677-1, Latin letters (default). ru: Russian letters; its full stop, comma and\n"
	"                         exclamation mark differ from itu. 'morse alphabets' prints them.\n"
	"  --extensions           also accept marks that are in use but in no recommendation: ! & ; _ $ in itu, + & _ $ in ru\n"
	"  --strict               stop at the first input that cannot be coded, and report its position (default)\n"
	"  --lossy[=REPLACEMENT]  replace such input: by one character, or nothing if it is empty. Default: '?' in\n"
	"                         code, U+FFFD in text\n"
	"  -o FILE, --output FILE write to FILE. On an error it is removed, or emptied if FILE is a link to it\n"
	"  --wav                  encode to sound: a WAV file, 16 bits, mono, 44100 Hz\n"
	"  --wpm N                speed: N words per minute; PARIS is one word (1 to 200, default 20)\n"
	"  --pitch N              pitch: N Hz (50 to 5000, default 600)\n"
	"  --backend NAME         implementation to use; the result is the same. 'morse backends' lists them, fastest first\n"
	"  --help, --version\n"
	"\n"
	"ENVIRONMENT\n"
	"  MORSE_BACKEND          like --backend; a name that does not exist or is not supported here is ignored\n"
	"\n"
	"EXIT STATUS\n"
	"  0 all input was coded. 1 some input could not be coded, read or written; one line reports what and where. 2 invalid\n"
	"  command line. If the reader of the output closes the pipe, SIGPIPE ends the program.\n"
	"\n"
	"EXAMPLES\n"
	"  echo 'What hath God wrought?' | morse encode\n"
	"  morse decode message.txt\n"
	"  echo СОС | morse encode --alphabet ru --wav --wpm 15 | aplay\n";

static void print_alphabet(const struct morse_alphabet *alphabet)
{
	char code[MORSE_ELEMENTS_MAX + 1];

	for (uint32_t character = 0; character < 0x430; character++) {
		unsigned char text[3] = { (unsigned char)character };
		uint32_t back;

		/* Small letters are like their capitals. */
		if ((character >= 'a' && character <= 'z') || (character >= 0xE0 && character < 0x100))
			continue;
		if (morse_alphabet_code(alphabet, character, code) == 0)
			continue;
		if (character >= 0x80) {
			text[0] = (unsigned char)(0xC0 | character >> 6);
			text[1] = (unsigned char)(0x80 | (character & 0x3F));
		}
		back = morse_alphabet_character(alphabet, code);
		printf("%s\t%s\t%s%s\n", morse_alphabet_name(alphabet), (char *)text, code,
		       back == character ? "" : back == 'X' ? "\tdecoded as X" : "\tdecoded as Е");
	}
}

static void print_alphabets(void)
{
	const struct morse_alphabet *alphabet;

	for (size_t i = 0; (alphabet = morse_alphabet_at(i)) != NULL; i++)
		print_alphabet(alphabet);
}

static void print_backends(void)
{
	const struct morse_backend *backend;

	for (size_t i = 0; (backend = morse_backend_at(i)) != NULL; i++)
		printf("%s%s\n", morse_backend_name(backend),
		       !morse_backend_supported(backend)        ? "\tnot on this processor"
		       : backend == morse_backend_default() ? "\tdefault"
		                                            : "");
}

static int printed(void)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		fail(EXIT_DATA, "standard output: cannot be written");
	return 0;
}

/* ---- Options: --name VALUE, --name=VALUE, -o FILE. */
struct words {
	char **next;
	const char *command;
};

/* If the word is this option: true, and its value, NULL if it has none. */
static bool is_option(const char *word, const char *name, const char **value)
{
	size_t length = strlen(name);

	if (strncmp(word, name, length) != 0 || (word[length] != '\0' && word[length] != '='))
		return false;
	*value = word[length] == '=' ? word + length + 1 : NULL;
	return true;
}

static const char *value_of(struct words *words, const char *name, const char *value)
{
	if (value == NULL && *words->next != NULL)
		value = *words->next++;
	if (value == NULL || *value == '\0')
		fail(EXIT_USAGE, "%s: %s: a value is missing; 'morse --help' has all options", words->command, name);
	return value;
}

static void no_value(const struct words *words, const char *name, const char *value)
{
	if (value != NULL)
		fail(EXIT_USAGE, "%s: %s: takes no value", words->command, name);
}

static unsigned number_of(struct words *words, const char *name, const char *value, unsigned least, unsigned most)
{
	unsigned number = 0;

	value = value_of(words, name, value);
	for (const char *digit = value; *digit != '\0'; digit++) {
		if (*digit < '0' || *digit > '9' || number > most) {
			number = most + 1;
			break;
		}
		number = number * 10 + (unsigned)(*digit - '0');
	}
	if (number < least || number > most)
		fail(EXIT_USAGE, "%s: %s %s: must be a whole number from %u to %u", words->command, name, value,
		     least, most);
	return number;
}

static const struct morse_backend *backend_of(struct words *words, const char *value)
{
	const struct morse_backend *backend;

	value = value_of(words, "--backend", value);
	backend = morse_backend_by_name(value);
	if (backend == NULL)
		fail(EXIT_USAGE, "%s: --backend %s: there is none of that name; 'morse backends' lists them",
		     words->command, value);
	if (!morse_backend_supported(backend))
		fail(EXIT_USAGE, "%s: --backend %s: this processor cannot run it; 'morse backends' lists those it can",
		     words->command, value);
	return backend;
}

static const struct morse_alphabet *alphabet_of(const struct words *words, const char *name, bool extensions)
{
	char whole[32];

	/* The long names are the library's; here the extensions have an option. */
	if (strcmp(name, "itu") != 0 && strcmp(name, "ru") != 0)
		fail(EXIT_USAGE, "%s: --alphabet %s: must be itu or ru", words->command, name);
	snprintf(whole, sizeof whole, "%s%s", name, extensions ? "-extended" : "");
	return morse_alphabet_by_name(whole);
}

static void run_filter(struct words *words)
{
	struct job job = { .encode = strcmp(words->command, "encode") == 0, .wpm = WAVE_WPM, .pitch = WAVE_PITCH };
	const char *alphabet = "itu", *sound = NULL;
	bool extensions = false, only_files = false;
	static char standard_input[] = "-", *only_standard_input[] = { standard_input };
	/* The files' names move to the front. */
	char **inputs = words->next;

	while (*words->next != NULL) {
		char *word = *words->next++;
		const char *value = NULL;

		if (only_files || word[0] != '-' || word[1] == '\0') {
			inputs[job.input_count++] = word;
		} else if (strcmp(word, "--") == 0) {
			only_files = true;
		} else if (is_option(word, "--alphabet", &value)) {
			alphabet = value_of(words, "--alphabet", value);
		} else if (is_option(word, "--extensions", &value)) {
			no_value(words, "--extensions", value);
			extensions = true;
		} else if (is_option(word, "--strict", &value)) {
			no_value(words, "--strict", value);
			job.options.replacement = NULL;
		} else if (is_option(word, "--lossy", &value)) {
			job.options.replacement = value != NULL ? value : job.encode ? "?" : "\xEF\xBF\xBD";
		} else if (is_option(word, "--output", &value)) {
			job.output = value_of(words, "--output", value);
		} else if (word[1] == 'o') {
			job.output = value_of(words, "-o", word[2] == '\0' ? NULL : word + 2);
		} else if (is_option(word, "--wav", &value)) {
			no_value(words, "--wav", value);
			job.wave = true;
		} else if (is_option(word, "--wpm", &value)) {
			job.wpm = number_of(words, "--wpm", value, 1, WAVE_WPM_MAX);
			sound = "--wpm";
		} else if (is_option(word, "--pitch", &value)) {
			job.pitch = number_of(words, "--pitch", value, WAVE_PITCH_MIN, WAVE_PITCH_MAX);
			sound = "--pitch";
		} else if (is_option(word, "--backend", &value)) {
			job.options.backend = backend_of(words, value);
		} else {
			fail(EXIT_USAGE, "%s: %s: there is no such option; 'morse --help' has all", words->command,
			     word);
		}
	}
	if (job.wave && !job.encode)
		fail(EXIT_USAGE, "decode: --wav: only encode makes sound");
	if (sound != NULL && !job.wave)
		fail(EXIT_USAGE, "%s: %s: needs --wav", words->command, sound);
	job.options.alphabet = alphabet_of(words, alphabet, extensions);
	job.inputs = inputs;
	if (job.input_count == 0) {
		job.inputs = only_standard_input;
		job.input_count = 1;
	}
	filter_run(&job);
}

int main(int argc, char **argv)
{
	struct words words = { argv + 1, argc > 1 ? argv[1] : "" };

	/* As it is for others, whatever the caller did: when nobody reads any more, the end is quiet. */
	signal(SIGPIPE, SIG_DFL);
	if (argc < 2)
		fail(EXIT_USAGE, "encode, decode, alphabets or backends? 'morse --help' has more");
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		bool short_help = i == 1 && (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "help") == 0);

		if (short_help || strcmp(argv[i], "--help") == 0) {
			fputs(help, stdout);
			return printed();
		}
		if (strcmp(argv[i], "--version") == 0) {
			printf("morse %s (%s)\n", MORSE_VERSION, morse_backend_name(morse_backend_default()));
			return printed();
		}
	}
	words.next++;
	if (strcmp(words.command, "encode") == 0 || strcmp(words.command, "decode") == 0) {
		run_filter(&words);
		return 0;
	}
	if (strcmp(words.command, "alphabets") != 0 && strcmp(words.command, "backends") != 0)
		fail(EXIT_USAGE, "%s: there is no such command; there are encode, decode, alphabets and backends",
		     words.command);
	if (argc > 2)
		fail(EXIT_USAGE, "%s: %s: takes no words", words.command, argv[2]);
	if (strcmp(words.command, "alphabets") == 0)
		print_alphabets();
	else
		print_backends();
	return printed();
}
