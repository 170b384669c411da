"""Kuznyechik, Magma and their modes, as slow and plain as the standards' text.

An oracle for the vectors beside it, independent of the C code: check.py runs it against published.txt, generate.py
makes generated.txt with it. Python 3, standard library only. Bytes are in the order in which the standards print them;
a block is a number a[n-1] ... a[0] whose first byte is the most significant one.

Sources: RFC 7801 (Kuznyechik), RFC 8891 (Magma), GOST R 34.13-2015 (ECB, CTR, OFB, CBC, CFB, MAC),
R 1323565.1.017-2018 and RFC 8645 (ACPKM), RFC 9058 (MGM).
"""


def xor(left, right):
    return bytes(a ^ b for a, b in zip(left, right))


def pieces(data, size):
    return [data[at:at + size] for at in range(0, len(data), size)]


def multiply(left, right, degree, polynomial):
    """left * right in GF(2^degree); polynomial: the field's, without its highest term."""
    product = 0
    for bit in reversed(range(degree)):
        product <<= 1
        if product >> degree:
            product ^= 1 << degree | polynomial
        if right >> bit & 1:
            product ^= left
    return product


class Kuznyechik:
    """RFC 7801. The names of the transformations are those of its section 4."""

    name, block = "kuznyechik", 16
    PI = bytes((
        252, 238, 221, 17, 207, 110, 49, 22, 251, 196, 250, 218, 35, 197, 4, 77, 233, 119, 240, 219, 147, 46, 153, 186,
        23, 54, 241, 187, 20, 205, 95, 193, 249, 24, 101, 90, 226, 92, 239, 33, 129, 28, 60, 66, 139, 1, 142, 79, 5,
        132, 2, 174, 227, 106, 143, 160, 6, 11, 237, 152, 127, 212, 211, 31, 235, 52, 44, 81, 234, 200, 72, 171, 242,
        42, 104, 162, 253, 58, 206, 204, 181, 112, 14, 86, 8, 12, 118, 18, 191, 114, 19, 71, 156, 183, 93, 135, 21,
        161, 150, 41, 16, 123, 154, 199, 243, 145, 120, 111, 157, 158, 178, 177, 50, 117, 25, 61, 255, 53, 138, 126,
        109, 84, 198, 128, 195, 189, 13, 87, 223, 245, 36, 169, 62, 168, 67, 201, 215, 121, 214, 246, 124, 34, 185, 3,
        224, 15, 236, 222, 122, 148, 176, 188, 220, 232, 40, 80, 78, 51, 10, 74, 167, 151, 96, 115, 30, 0, 98, 68, 26,
        184, 56, 130, 100, 159, 38, 65, 173, 69, 70, 146, 39, 94, 85, 47, 140, 163, 165, 125, 105, 213, 149, 59, 7, 88,
        179, 64, 134, 172, 29, 247, 48, 55, 107, 228, 136, 217, 231, 137, 225, 27, 131, 73, 76, 63, 248, 254, 141, 83,
        170, 144, 202, 216, 133, 97, 32, 113, 103, 164, 45, 43, 9, 91, 203, 155, 37, 208, 190, 229, 108, 82, 89, 166,
        116, 210, 230, 244, 180, 192, 209, 102, 175, 194, 57, 75, 99, 182))
    # The coefficients of the linear form l, for a[15] ... a[0], in GF(2)[x] / (x^8 + x^7 + x^6 + x + 1).
    COEFFICIENTS = 148, 32, 133, 16, 194, 192, 1, 251, 1, 192, 194, 16, 133, 32, 148, 1
    PRODUCTS = {c: bytes(multiply(c, a, 8, 0xC3) for a in range(256)) for c in set(COEFFICIENTS)}

    @classmethod
    def s(cls, block):
        return bytes(cls.PI[a] for a in block)

    @classmethod
    def s_inverse(cls, block):
        return bytes(cls.PI.index(a) for a in block)

    @classmethod
    def linear(cls, block):
        total = 0
        for c, a in zip(cls.COEFFICIENTS, block):
            total ^= cls.PRODUCTS[c][a]
        return total

    @classmethod
    def r(cls, block):
        return bytes([cls.linear(block)]) + block[:15]

    @classmethod
    def l(cls, block):
        for _ in range(16):
            block = cls.r(block)
        return block

    @classmethod
    def l_inverse(cls, block):
        for _ in range(16):
            block = block[1:] + bytes([cls.linear(block[1:] + block[:1])])
        return block

    def __init__(self, key):
        left, right = key[:16], key[16:]
        self.round_keys = [left, right]
        for i in range(1, 33):
            constant = self.l(i.to_bytes(16, "big"))
            left, right = xor(self.l(self.s(xor(left, constant))), right), left
            if i % 8 == 0:
                self.round_keys += [left, right]

    def encrypt(self, block):
        for key in self.round_keys[:9]:
            block = self.l(self.s(xor(block, key)))
        return xor(block, self.round_keys[9])

    def decrypt(self, block):
        block = xor(block, self.round_keys[9])
        for key in reversed(self.round_keys[:9]):
            block = xor(self.s_inverse(self.l_inverse(block)), key)
        return block


class Magma:
    """RFC 8891."""

    name, block = "magma", 8
    # PI[i] substitutes the nibble number i from the right.
    PI = ((12, 4, 6, 2, 10, 5, 11, 9, 14, 8, 13, 7, 0, 3, 15, 1), (6, 8, 2, 3, 9, 10, 5, 12, 1, 14, 4, 7, 11, 13, 0, 15),
          (11, 3, 5, 8, 2, 15, 10, 13, 14, 1, 7, 4, 12, 9, 6, 0), (12, 8, 2, 1, 13, 4, 15, 6, 7, 0, 10, 5, 3, 14, 9, 11),
          (7, 15, 5, 10, 8, 1, 6, 13, 0, 9, 3, 14, 11, 4, 2, 12), (5, 13, 15, 6, 9, 2, 12, 10, 11, 7, 8, 1, 4, 3, 14, 0),
          (8, 14, 2, 5, 6, 9, 1, 12, 15, 4, 11, 0, 13, 10, 3, 7), (1, 7, 14, 13, 0, 5, 8, 3, 4, 15, 10, 6, 9, 12, 11, 2))

    @classmethod
    def t(cls, word):
        return sum(cls.PI[i][word >> 4 * i & 15] << 4 * i for i in range(8))

    @classmethod
    def g(cls, key, word):
        word = cls.t((word + key) % 2**32)
        return (word << 11 | word >> 21) % 2**32

    def __init__(self, key):
        words = [int.from_bytes(word, "big") for word in pieces(key, 4)]
        self.round_keys = words * 3 + words[::-1]

    def rounds(self, block, keys):
        left, right = (int.from_bytes(half, "big") for half in pieces(block, 4))
        for key in keys:
            left, right = right, left ^ self.g(key, right)
        return right.to_bytes(4, "big") + left.to_bytes(4, "big")

    def encrypt(self, block):
        return self.rounds(block, self.round_keys)

    def decrypt(self, block):
        return self.rounds(block, self.round_keys[::-1])


CIPHERS = {"kuznyechik": Kuznyechik, "magma": Magma}


# GOST R 34.13-2015. A register `iv` of several blocks, m = z * n, is allowed where the standard has it; s = n.

def ecb_encrypt(cipher, plain):
    return b"".join(cipher.encrypt(block) for block in pieces(plain, cipher.block))


def ecb_decrypt(cipher, coded):
    return b"".join(cipher.decrypt(block) for block in pieces(coded, cipher.block))


def increase(half):
    return ((int.from_bytes(half, "big") + 1) % 256**len(half)).to_bytes(len(half), "big")


def increase_right(counter):
    half = len(counter) // 2
    return counter[:half] + increase(counter[half:])


def increase_left(counter):
    half = len(counter) // 2
    return increase(counter[:half]) + counter[half:]


def counter_xor(cipher, counter, data):
    """The data with the gamma of the counters from `counter` on."""
    output = b""
    for piece in pieces(data, cipher.block):
        output += xor(piece, cipher.encrypt(counter))
        counter = increase_right(counter)
    return output


def ctr(cipher, iv, data):
    """iv: half a block."""
    return counter_xor(cipher, iv + bytes(cipher.block // 2), data)


def ofb(cipher, iv, data):
    output = b""
    for piece in pieces(data, cipher.block):
        gamma = cipher.encrypt(iv[:cipher.block])
        iv = iv[cipher.block:] + gamma
        output += xor(piece, gamma)
    return output


def cfb_encrypt(cipher, iv, plain):
    output = b""
    for piece in pieces(plain, cipher.block):
        coded = xor(piece, cipher.encrypt(iv[:cipher.block]))
        iv = iv[cipher.block:] + coded
        output += coded
    return output


def cfb_decrypt(cipher, iv, coded):
    output = b""
    for piece in pieces(coded, cipher.block):
        output += xor(piece, cipher.encrypt(iv[:cipher.block]))
        iv = iv[cipher.block:] + piece
    return output


def cbc_encrypt(cipher, iv, plain):
    output = b""
    for piece in pieces(plain, cipher.block):
        coded = cipher.encrypt(xor(piece, iv[:cipher.block]))
        iv = iv[cipher.block:] + coded
        output += coded
    return output


def cbc_decrypt(cipher, iv, coded):
    output = b""
    for piece in pieces(coded, cipher.block):
        output += xor(cipher.decrypt(piece), iv[:cipher.block])
        iv = iv[cipher.block:] + piece
    return output


def field(block):
    """The polynomial B_n of the field that a MAC and MGM use, without its highest term."""
    return {16: 0x87, 8: 0x1B}[block]


def doubled(key):
    return multiply(int.from_bytes(key, "big"), 2, 8 * len(key), field(len(key))).to_bytes(len(key), "big")


def last_block(data, block, key):
    """The last, perhaps incomplete block of a MAC, padded, with its auxiliary key; and what goes before it."""
    whole = max(len(data) - 1, 0) // block * block
    rest = data[whole:]
    if len(rest) == block:
        return data[:whole], xor(rest, key)
    return data[:whole], xor(rest + b"\x80" + bytes(block - 1 - len(rest)), doubled(key))


def mac(cipher, data):
    """5.6, all n bits."""
    before, last = last_block(data, cipher.block, doubled(cipher.encrypt(bytes(cipher.block))))
    chain = bytes(cipher.block)
    for block in pieces(before, cipher.block) + [last]:
        chain = cipher.encrypt(xor(block, chain))
    return chain


# R 1323565.1.017-2018. Sections are in bytes, whole numbers of blocks.

def acpkm(make, key):
    """The key of the next section."""
    return ecb_encrypt(make(key), bytes(range(0x80, 0xA0)))


def ctr_acpkm(make, key, iv, section, data):
    counter, output = iv + bytes(make.block // 2), b""
    for piece in pieces(data, section):
        cipher = make(key)
        output += counter_xor(cipher, counter, piece)
        for _ in range(section // make.block):
            counter = increase_right(counter)
        key = acpkm(make, key)
    return output


def mac_acpkm(make, key, section, key_section, data):
    """OMAC-ACPKM-Master; key_section is the T* of the gamma that the keys are cut from."""
    sections = max(1, -(-len(data) // section))
    size = 32 + make.block
    material = ctr_acpkm(make, key, b"\xff" * (make.block // 2), key_section, bytes(size * sections))
    keys = pieces(material, size)
    before, last = last_block(data, make.block, keys[-1][32:])
    chain = bytes(make.block)
    blocks = pieces(before, make.block) + [last]
    ciphers = [make(key[:32]) for key in keys]
    for i, block in enumerate(blocks):
        chain = ciphers[i * make.block // section].encrypt(xor(block, chain))
    return chain


# RFC 9058

def padded(data, block):
    return data + bytes(-len(data) % block)


def multilinear_input(block, ad, coded):
    """What MGM's sum goes over: both texts padded to whole blocks, and their lengths in bits."""
    lengths = (8 * len(ad)).to_bytes(block // 2, "big") + (8 * len(coded)).to_bytes(block // 2, "big")
    return padded(ad, block) + padded(coded, block) + lengths


def multilinear_keys(cipher, nonce, count):
    counter, keys = cipher.encrypt(bytes([nonce[0] | 0x80]) + nonce[1:]), []
    for _ in range(count):
        keys.append(cipher.encrypt(counter))
        counter = increase_left(counter)
    return keys


def multilinear(keys, data, block):
    total = 0
    for key, piece in zip(keys, pieces(data, block)):
        total ^= multiply(int.from_bytes(key, "big"), int.from_bytes(piece, "big"), 8 * block, field(block))
    return total.to_bytes(block, "big")


def mgm(cipher, nonce, ad, plain):
    """The ciphertext and all n bits of the tag. nonce: a block whose highest bit is 0."""
    coded = counter_xor(cipher, cipher.encrypt(nonce), plain)
    data = multilinear_input(cipher.block, ad, coded)
    keys = multilinear_keys(cipher, nonce, len(data) // cipher.block)
    return coded, cipher.encrypt(multilinear(keys, data, cipher.block))
