/* Prints its argument as Morse code:
 *
 *     cc sos.c $(pkg-config --cflags --libs morse) -o sos
 *     ./sos 'What hath God wrought?'
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <morse.h>

int main(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : "sos";
	struct morse_options options = { morse_alphabet_by_name("itu"), NULL, NULL };
	struct morse_error error;
	size_t bytes = strlen(text), room = morse_encoded_max(bytes), written;
	uint8_t *code = (uint8_t *)malloc(room + 1);
	enum morse_status status;

	if (code == NULL)
		return 1;
	status = morse_encode(&options, code, room, &written, (const uint8_t *)text, bytes, &error);
	if (status == MORSE_OK)
		printf("%.*s\n", (int)written, (const char *)code);
	else
		fprintf(stderr, "sos: column %llu: %s\n", (unsigned long long)error.column, morse_status_text(status));
	free(code);
	return status != MORSE_OK;
}
