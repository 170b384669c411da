#include "tower.h"

#include <pthread.h>
#include <string.h>

#include "kuznyechik/transforms.h"

struct tower_tables kuzma_kuznyechik_tower;
struct tower_parts kuzma_kuznyechik_tower_parts;

const uint8_t kuzma_kuznyechik_tower_coefficients[16] = {
	1, 148, 32, 133, 16, 194, 192, 1, 251, 1, 192, 194, 16, 133, 32, 148,
};

const uint8_t kuzma_kuznyechik_tower_times[TOWER_TIMES] = { 148, 32, 133, 16, 194, 192, 251, 1 };

uint8_t kuzma_tower_multiply(unsigned left, unsigned right, unsigned polynomial)
{
	unsigned product = 0;

	for (; right != 0; right >>= 1) {
		if (right & 1u)
			product ^= left;
		left = left << 1 ^ (left & 0x80u ? polynomial : 0u);
	}
	return (uint8_t)product;
}

uint8_t kuzma_tower_apply(const struct tower_map *map, unsigned value)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < 8; i++)
		if (value >> i & 1u)
			sum ^= map->image[i];
	return (uint8_t)sum;
}

struct tower_map kuzma_tower_compose(const struct tower_map *outer, const struct tower_map *inner)
{
	struct tower_map map;

	for (unsigned i = 0; i < 8; i++)
		map.image[i] = kuzma_tower_apply(outer, inner->image[i]);
	return map;
}

struct tower_map kuzma_tower_inverse(const struct tower_map *map)
{
	struct tower_map inverse = { { 0 } };

	for (unsigned value = 1; value < 256; value++) {
		unsigned image = kuzma_tower_apply(map, value);
		for (unsigned i = 0; i < 8; i++)
			if (image == 1u << i)
				inverse.image[i] = (uint8_t)value;
	}
	return inverse;
}

struct tower_map kuzma_tower_product(unsigned constant, unsigned polynomial)
{
	struct tower_map map;

	for (unsigned i = 0; i < 8; i++)
		map.image[i] = kuzma_tower_multiply(constant, 1u << i, polynomial);
	return map;
}

struct tower_map kuzma_tower_conjugate(const struct tower_map *into, const struct tower_map *map)
{
	struct tower_map back = kuzma_tower_inverse(into), half = kuzma_tower_compose(map, &back);

	return kuzma_tower_compose(into, &half);
}

/* 2^i goes to g^i, for the least root g of the first polynomial in the second field. */
struct tower_map kuzma_tower_isomorphism(unsigned from, unsigned to)
{
	struct tower_map map = { { 0 } };

	for (unsigned g = 2; g < 256; g++) {
		unsigned power = 1, value = 0;
		for (unsigned i = 0; i <= 8; i++) {
			if (from >> i & 1u)
				value ^= power;
			if (i < 8)
				map.image[i] = (uint8_t)power;
			power = kuzma_tower_multiply(power, g, to);
		}
		if (value == 0)
			break;
	}
	return map;
}

static void fill_map(nibble_map table, const struct tower_map *map)
{
	for (unsigned value = 0; value < 16; value++) {
		table[0][value] = kuzma_tower_apply(map, value);
		table[1][value] = kuzma_tower_apply(map, value << 4);
	}
}

/* Product by a constant of L, in the basis of `into`. */
static void fill_product(nibble_map table, unsigned constant, const struct tower_map *into)
{
	struct tower_map product = kuzma_tower_product(constant, TOWER_POLYNOMIAL_L);

	product = kuzma_tower_conjugate(into, &product);
	fill_map(table, &product);
}

/* Number i of a row of pairs. */
static void fill_in_pair(nibble_map_pair *pairs, unsigned i, unsigned constant, const struct tower_map *into)
{
	nibble_map map;

	fill_product(map, constant, into);
	memcpy(pairs[i / 2][0][i % 2], map[0], sizeof map[0]);
	memcpy(pairs[i / 2][1][i % 2], map[1], sizeof map[1]);
}

/* `offset`: for encryption what S lacks, for decryption k(0), in the ordinary basis. */
static void fill_side(struct tower_side *side, const struct tower_map *into, unsigned offset, int encryption)
{
	struct tower_map out_of = kuzma_tower_inverse(into);
	uint8_t series[16] = { 1 }, block[16];

	fill_map(side->into, into);
	fill_map(side->out_of, &out_of);
	for (unsigned i = 0; i < TOWER_TIMES; i++)
		fill_in_pair(side->times, i, kuzma_kuznyechik_tower_times[i], into);
	for (unsigned n = 1; n < 16; n++) {
		for (unsigned k = 1; k <= n; k++)
			series[n] ^= kuzma_tower_multiply(kuzma_kuznyechik_tower_coefficients[k], series[n - k], TOWER_POLYNOMIAL_L);
		fill_in_pair(side->series, n - 1, series[n], into);
	}
	fill_in_pair(side->series, 15, 0, into);
	memset(block, (int)offset, sizeof block);
	if (encryption)
		kuzma_kuznyechik_l(block);
	side->offset = kuzma_tower_apply(into, offset);
	for (unsigned n = 0; n < 16; n++)
		side->offset_block[n] = kuzma_tower_apply(into, block[n]);
	if (!encryption)
		return;
	memset(block, 0, sizeof block);
	block[15] = 1;
	kuzma_kuznyechik_l(block);
	for (unsigned n = 0; n < 16; n++)
		fill_product(side->column[n], block[n], into);
	for (unsigned i = 0; i < 32; i++) {
		memset(block, 0, sizeof block);
		block[15] = (uint8_t)(i + 1);
		kuzma_kuznyechik_l(block);
		for (unsigned n = 0; n < 16; n++)
			side->schedule[i][n] = kuzma_tower_apply(into, block[n]);
	}
}

static unsigned find_scale(const uint8_t power[15])
{
	for (unsigned c = 1; c < 256; c++) {
		unsigned seen = 1, top = 0;
		for (unsigned i = 0; i < 15; i++) {
			unsigned scaled = kuzma_tower_multiply(c, power[i], TOWER_POLYNOMIAL_AES);
			top |= scaled & 0x80u;
			seen |= 1u << (scaled & 15u);
		}
		if (seen == 0xFFFFu && top == 0)
			return c;
	}
	return 0;
}

static void find_parts(struct tower_parts *parts)
{
	unsigned power = 1, step = 1;

	parts->to_aes = kuzma_tower_isomorphism(TOWER_POLYNOMIAL_S, TOWER_POLYNOMIAL_AES);
	parts->from_aes = kuzma_tower_inverse(&parts->to_aes);
	parts->w = kuzma_tower_apply(&parts->to_aes, 2);
	for (unsigned i = 0; i < 17; i++)
		step = kuzma_tower_multiply(step, parts->w, TOWER_POLYNOMIAL_AES);
	for (unsigned i = 0; i < 15; i++, power = kuzma_tower_multiply(power, step, TOWER_POLYNOMIAL_AES))
		parts->power[i] = (uint8_t)power;
	parts->scale = (uint8_t)find_scale(parts->power);
	memset(parts->coordinates, 0, sizeof parts->coordinates);
	parts->log[0] = TOWER_LOG_ZERO;
	parts->element[0] = 0;
	for (unsigned i = 0; i < 15; i++) {
		unsigned n = kuzma_tower_multiply(parts->scale, parts->power[i], TOWER_POLYNOMIAL_AES) & 15u;
		parts->coordinates[parts->power[i]] = (uint8_t)n;
		parts->log[n] = (uint8_t)i;
		parts->element[n] = parts->power[i];
	}
	for (unsigned r = 0; r < 16; r++)
		for (unsigned l = 0; l < 16; l++) {
			unsigned x = parts->element[l] ^
			             kuzma_tower_multiply(parts->element[r], parts->w, TOWER_POLYNOMIAL_AES);
			parts->high[x] = (uint8_t)r;
			parts->low[x] = (uint8_t)l;
		}
}

/* Log of an element of F16 given by its coordinates, negated. */
static unsigned minus(unsigned log)
{
	return log == TOWER_LOG_ZERO ? log : (15u - log) % 15u;
}

static void make_encryption(struct tower_tables *tables, struct tower_parts *parts)
{
	struct tower_map into, out_of;
	uint8_t s[256], a[16], *phi = parts->phi, inverse_w[17];
	unsigned offset;

	for (unsigned i = 0; i < 8; i++) {
		unsigned x = kuzma_tower_apply(&parts->to_aes, 1u << i);
		into.image[i] = (uint8_t)(parts->high[x] << 4 | parts->low[x]);
	}
	out_of = kuzma_tower_inverse(&into);
	for (unsigned x = 0; x < 256; x++)
		s[x] = kuzma_tower_apply(&into, kuzma_kuznyechik_pi[kuzma_tower_apply(&out_of, x)]);
	/* w^-i, i = 0..16 */
	inverse_w[0] = 1;
	for (unsigned i = 1; i < 17; i++)
		for (unsigned x = 1; x < 256; x++)
			if (kuzma_tower_multiply(x, parts->w, TOWER_POLYNOMIAL_AES) == inverse_w[i - 1])
				inverse_w[i] = (uint8_t)x;
	for (unsigned t = 0; t < 16; t++) {
		/* A[t] is the sum over all r != 0, as the values of f sum to 0. */
		a[t] = 0;
		for (unsigned r = 1; r < 16; r++) {
			unsigned l = kuzma_tower_multiply(parts->element[t], parts->element[r], TOWER_POLYNOMIAL_AES);
			a[t] ^= s[r << 4 | parts->coordinates[l]];
		}
		/* phi[t] = (t + w) w^-i, for that i of 1..17 that brings it to F16. */
		for (unsigned i = 0; i < 17; i++) {
			unsigned value = kuzma_tower_multiply(parts->element[t] ^ parts->w, inverse_w[i], TOWER_POLYNOMIAL_AES);
			if (parts->coordinates[value] != 0)
				phi[t] = parts->coordinates[value];
		}
	}
	offset = a[0];
	memset(tables->a, 0, sizeof tables->a);
	memset(tables->phi_step, 0, sizeof tables->phi_step);
	memset(tables->b, 0, sizeof tables->b);
	for (unsigned n = 0; n < 16; n++) {
		tables->log_l[n] = parts->log[n];
		tables->minus_log_r[n] = (uint8_t)minus(parts->log[n]);
		tables->log_r_phi[n] = (uint8_t)(n == 0 ? TOWER_LOG_ZERO : (parts->log[n] + parts->log[phi[0]]) % 15u);
		if (n == 0)
			continue;
		tables->a[parts->log[n]] = (uint8_t)(a[n] ^ offset);
		tables->phi_step[parts->log[n]] = (uint8_t)((parts->log[phi[n]] + minus(parts->log[phi[0]])) % 15u);
		/* t = 0: r phi[0] with r = n has the logarithm log_r_phi[n]. */
		tables->b[tables->log_r_phi[n]] = (uint8_t)(s[n << 4] ^ offset);
	}
	for (unsigned l = 0; l < 16; l++)
		tables->rest[l] = (uint8_t)(s[l] ^ offset);
	parts->into_encrypt = into;
	fill_side(&tables->encrypt, &into, kuzma_tower_apply(&out_of, offset), 1);
}

static void make_decryption(struct tower_tables *tables, struct tower_parts *parts)
{
	struct tower_map into, out_of;
	unsigned offset = kuzma_kuznyechik_pi[0], power = 1;
	uint8_t of_power[255];

	for (unsigned i = 0; i < 255; i++, power = kuzma_tower_multiply(power, 2, TOWER_POLYNOMIAL_S))
		of_power[i] = kuzma_kuznyechik_pi[power];
	/* y + k(0): bit i of u is k(2^i) + k(0), with k(16 - j) = S(a^17j); the high nibble is F16. */
	for (unsigned i = 0; i < 4; i++) {
		out_of.image[i] = (uint8_t)(of_power[17 * (16 - (1u << i)) % 255] ^ offset);
		out_of.image[4 + i] = kuzma_tower_apply(&parts->from_aes, parts->element[1u << i]);
	}
	into = kuzma_tower_inverse(&out_of);
	memset(tables->l, 0, sizeof tables->l);
	memset(tables->r, 0, sizeof tables->r);
	for (unsigned i = 0; i < 15; i++) {
		unsigned product = kuzma_tower_multiply(parts->power[i], parts->w, TOWER_POLYNOMIAL_AES);
		tables->l[i] = kuzma_tower_apply(&into, kuzma_tower_apply(&parts->from_aes, parts->power[i]));
		tables->r[i] = kuzma_tower_apply(&into, kuzma_tower_apply(&parts->from_aes, product));
	}
	/* y = S(a^(i+17j)): v tells j and u tells i. */
	tables->log_e[0] = TOWER_LOG_ZERO;
	for (unsigned j = 0; j < 15; j++)
		tables->log_e[kuzma_tower_apply(&into, of_power[(1 + 17 * j) % 255] ^ offset) >> 4] = (uint8_t)j;
	for (unsigned u = 0, x; u < 16; u++) {
		x = 1;
		for (unsigned i = 0; i < 16 - u; i++)
			x = kuzma_tower_multiply(x, parts->w, TOWER_POLYNOMIAL_AES);
		tables->log_power_l[u] = parts->log[parts->low[x]];
		tables->log_power_r[u] = parts->log[parts->high[x]];
	}
	for (unsigned u = 0; u < 16; u++) {
		unsigned y = kuzma_tower_apply(&out_of, u) ^ offset;
		tables->inverse_rest[u] = kuzma_tower_apply(&into, kuzma_kuznyechik_pi_inverse[y]);
	}
	parts->into_decrypt = into;
	fill_side(&tables->decrypt, &into, offset, 0);
}

static void make_tables(void)
{
	kuzma_kuznyechik_transforms_prepare();
	find_parts(&kuzma_kuznyechik_tower_parts);
	make_encryption(&kuzma_kuznyechik_tower, &kuzma_kuznyechik_tower_parts);
	make_decryption(&kuzma_kuznyechik_tower, &kuzma_kuznyechik_tower_parts);
}

void kuzma_kuznyechik_tower_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_tables);
}
