const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;
const TWO_32 = 2 ** 32;
const encoder = new TextEncoder();

/**
 * Writes a protobuf message from its end to its beginning: the length of a nested message stands before it, and is known
 * when it has been written. So fields are written in reverse, the last one first. Fields are numbered from 1 to 31.
 */
export class ProtobufWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView;
  /** Where the last byte was written; those before it are free. */
  #at: number;

  constructor(size: number) {
    this.#bytes = new Uint8Array(size);
    this.#view = new DataView(this.#bytes.buffer);
    this.#at = size;
  }

  /** The message. */
  toBytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(this.#at);
  }

  /** A nested message, written by `write`. */
  message(field: number, write: () => void): void {
    const end = this.#bytes.length - this.#at;
    write();
    this.#varint(this.#bytes.length - this.#at - end);
    this.#tag(field, LENGTH_DELIMITED);
  }

  /** All that was written becomes one nested message. */
  wrap(field: number): void {
    this.#varint(this.#bytes.length - this.#at);
    this.#tag(field, LENGTH_DELIMITED);
  }

  string(field: number, text: string): void {
    const length = text.length;
    this.#reserve(length);
    const [bytes, start] = [this.#bytes, this.#at - length];
    let n = 0;
    for (; n < length; n++) {
      const unit = text.charCodeAt(n);
      if (unit > 0x7f) break;
      bytes[start + n] = unit;
    }
    if (n < length) return this.#bytesField(field, encoder.encode(text));
    this.#at = start;
    this.#varint(length);
    this.#tag(field, LENGTH_DELIMITED);
  }

  /** Bytes that are given in hexadecimal digits. */
  hex(field: number, digits: string): void {
    const length = digits.length / 2;
    this.#reserve(length);
    this.#at -= length;
    for (let n = 0; n < length; n++) {
      this.#bytes[this.#at + n] = digitAt(digits, 2 * n) * 16 + digitAt(digits, 2 * n + 1);
    }
    this.#varint(length);
    this.#tag(field, LENGTH_DELIMITED);
  }

  /** A whole number that is not negative. */
  whole(field: number, value: number): void {
    this.#varint(value);
    this.#tag(field, VARINT);
  }

  /** An int64, which may be negative. */
  integer(field: number, value: number): void {
    if (value >= 0) this.#varint(value);
    else this.#bigVarint(BigInt.asUintN(64, BigInt(value)));
    this.#tag(field, VARINT);
  }

  double(field: number, value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#at -= 8, value, true);
    this.#tag(field, FIXED64);
  }

  fixed32(field: number, value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#at -= 4, value, true);
    this.#tag(field, FIXED32);
  }

  /** A fixed64 as the product of two numbers, since a JavaScript number cannot hold all of its digits. */
  fixed64(field: number, value: number, factor: number): void {
    this.#reserve(8);
    const high = Math.floor(value / TWO_32);
    const low = (value - high * TWO_32) * factor;
    const carry = Math.floor(low / TWO_32);
    this.#at -= 8;
    this.#view.setUint32(this.#at, low - carry * TWO_32, true);
    this.#view.setUint32(this.#at + 4, high * factor + carry, true);
    this.#tag(field, FIXED64);
  }

  #bytesField(field: number, bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#at -= bytes.length;
    this.#bytes.set(bytes, this.#at);
    this.#varint(bytes.length);
    this.#tag(field, LENGTH_DELIMITED);
  }

  #tag(field: number, type: number): void {
    // Two bytes from 16 on.
    this.#varint(field * 8 + type);
  }

  #varint(value: number): void {
    if (value < 0x80) {
      this.#reserve(1);
      this.#bytes[--this.#at] = value;
      return;
    }
    let length = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
    this.#reserve(length);
    this.#at -= length;
    let rest = value;
    for (let n = 0; n < length; n++) {
      this.#bytes[this.#at + n] = (rest % 0x80) + (n === length - 1 ? 0 : 0x80);
      rest = Math.floor(rest / 0x80);
    }
  }

  #bigVarint(value: bigint): void {
    const bytes: number[] = [];
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) + 0x80);
    bytes.push(Number(rest));
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#at -= bytes.length);
  }

  #reserve(length: number): void {
    if (length <= this.#at) return;
    const size = Math.max(2 * this.#bytes.length, this.#bytes.length + length);
    const larger = new Uint8Array(size);
    const at = size - (this.#bytes.length - this.#at);
    larger.set(this.#bytes.subarray(this.#at), at);
    [this.#bytes, this.#view, this.#at] = [larger, new DataView(larger.buffer), at];
  }
}

/** The value of a digit: 0 to 9 come before a to f. */
function digitAt(digits: string, index: number): number {
  const unit = digits.charCodeAt(index);
  return unit < 0x3a ? unit - 0x30 : unit - 0x57;
}
