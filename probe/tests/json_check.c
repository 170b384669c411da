/* Whether each line of a file is one JSON object (RFC 8259), in valid UTF-8 for what concerns the first byte, and there
 * is one. A line that begins with a record separator names those that follow it, of which there must be one too. With
 * --whole: whether the whole file is one object. Exit status 0: yes. Not itself a test. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool value(const char **at, unsigned depth);

static void spaces(const char **at)
{
	*at += strspn(*at, " \t\r\n");
}

static bool string(const char **at)
{
	if (*(*at)++ != '"')
		return false;
	for (; **at != '"'; ++*at) {
		if ((unsigned char)**at < 0x20)
			return false;
		if (**at != '\\')
			continue;
		++*at;
		if (**at == 'u') {
			if (strspn(*at + 1, "0123456789abcdefABCDEF") < 4)
				return false;
			*at += 4;
		} else if (**at == '\0' || strchr("\"\\/bfnrt", **at) == NULL) {
			return false;
		}
	}
	++*at;
	return true;
}

static bool digits(const char **at)
{
	size_t count = strspn(*at, "0123456789");

	*at += count;
	return count > 0;
}

static bool number(const char **at)
{
	*at += **at == '-';
	if (**at == '0' ? !++*at : !digits(at))
		return false;
	if (**at == '.' && (++*at, !digits(at)))
		return false;
	if (**at == 'e' || **at == 'E') {
		++*at;
		*at += **at == '+' || **at == '-';
		return digits(at);
	}
	return true;
}

static bool members(const char **at, unsigned depth, char end)
{
	++*at;
	spaces(at);
	if (**at == end)
		return ++*at, true;
	for (;;) {
		spaces(at);
		if (end == '}') {
			if (!string(at))
				return false;
			spaces(at);
			if (*(*at)++ != ':')
				return false;
		}
		if (!value(at, depth + 1))
			return false;
		spaces(at);
		if (**at == end)
			return ++*at, true;
		if (*(*at)++ != ',')
			return false;
	}
}

static bool value(const char **at, unsigned depth)
{
	static const char *const words[] = { "true", "false", "null" };

	spaces(at);
	if (depth > 32)
		return false;
	if (**at == '{')
		return members(at, depth, '}');
	if (**at == '[')
		return members(at, depth, ']');
	if (**at == '"')
		return string(at);
	for (size_t i = 0; i < 3; i++) {
		if (strncmp(*at, words[i], strlen(words[i])) == 0) {
			*at += strlen(words[i]);
			return true;
		}
	}
	return number(at);
}

static bool object(const char *at)
{
	spaces(&at);
	if (*at != '{' || !value(&at, 0))
		return false;
	spaces(&at);
	return *at == '\0';
}

static bool some_lines(const char *name, unsigned lines)
{
	if (lines == 0)
		fprintf(stderr, "%sthere are no lines\n", name);
	return lines > 0;
}

int main(int argc, char **argv)
{
	static char text[1 << 22];
	bool whole = argc > 2 && strcmp(argv[1], "--whole") == 0;
	FILE *file = argc > 1 ? fopen(argv[argc - 1], "r") : NULL;
	char name[256] = "";
	unsigned lines = 0;
	bool right = true;

	if (file == NULL)
		return 2;
	if (whole) {
		text[fread(text, 1, sizeof text - 1, file)] = '\0';
		fclose(file);
		return object(text) ? 0 : 1;
	}
	while (fgets(text, sizeof text, file) != NULL) {
		if (text[0] == '\036') {
			right &= name[0] == '\0' || some_lines(name, lines);
			snprintf(name, sizeof name, "%.*s: ", (int)strcspn(text + 1, "\n"), text + 1);
			lines = 0;
		} else if (lines++, !object(text)) {
			fprintf(stderr, "%sline %u is no JSON object: %s\n", name, lines, text);
			right = false;
		}
	}
	fclose(file);
	return some_lines(name, lines) && right ? 0 : 1;
}
