/** The value of one field of a protobuf message: a number of some width, or bytes. */
export type FieldValue = bigint | Uint8Array;

/** The fields of a protobuf message by their number, in the order they came. */
export function readProtobuf(bytes: Uint8Array): Map<number, FieldValue[]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fields = new Map<number, FieldValue[]>();
  let at = 0;
  const readVarint = () => {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = view.getUint8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const readValue = (type: number): FieldValue => {
    switch (type) {
      case 0:
        return readVarint();
      case 1:
        return view.getBigUint64((at += 8) - 8, true);
      case 2: {
        const length = Number(readVarint());
        if (at + length > bytes.length) throw new Error("A field is longer than its message");
        return bytes.subarray(at, at += length);
      }
      case 5:
        return BigInt(view.getUint32((at += 4) - 4, true));
      default:
        throw new Error(`There is no wire type ${type}`);
    }
  };
  while (at < bytes.length) {
    const tag = Number(readVarint());
    const field = tag >> 3;
    fields.set(field, [...fields.get(field) ?? [], readValue(tag & 7)]);
  }
  return fields;
}
