/** Bits, most significant first. */
export class BitWriter {
  #buffer = new Uint8Array(4096);
  #length = 0;
  #pending = 0;
  #count = 0;

  write(value: number, width: number): void {
    for (let bit = width - 1; bit >= 0; bit--) {
      this.#pending = this.#pending << 1 | value >> bit & 1;
      if (++this.#count === 8) this.#flush();
    }
  }

  /** Exp-Golomb (ITU-T H.264, 9.1). */
  unsigned(value: number): void {
    const width = 32 - Math.clz32(value + 1);
    this.write(0, width - 1);
    this.write(value + 1, width);
  }

  signed(value: number): void {
    this.unsigned(value > 0 ? 2 * value - 1 : -2 * value);
  }

  align(): void {
    while (this.#count !== 0) this.write(0, 1);
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** The stop bit, and to the end of the byte. */
  end(): void {
    this.write(1, 1);
    this.align();
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #flush(): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = this.#pending;
    this.#pending = this.#count = 0;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#buffer.length) return;
    const larger = new Uint8Array((this.#length + more) * 2);
    larger.set(this.#buffer);
    this.#buffer = larger;
  }
}
