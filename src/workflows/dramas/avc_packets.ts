/** What an H.264 decoder has to know before it can begin (ISO/IEC 14496-15, 5.3.3). */
export interface ParameterSets {
  /** Bytes of each unit's length in the packets of this file. */
  readonly lengthBytes: number;
  readonly units: readonly Uint8Array[];
}

const LENGTH_BYTES = 4;

/** Reads a decoder configuration record; throws what it cannot read. */
export function readParameterSets(record: Uint8Array): ParameterSets {
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  const units: Uint8Array[] = [];
  let at = 5;
  for (const mask of [0x1f, 0xff]) {
    for (let left = view.getUint8(at++) & mask; left > 0; left--) {
      const length = view.getUint16(at);
      units.push(record.subarray(at + 2, at + 2 + length));
      at += 2 + length;
    }
  }
  return { lengthBytes: (view.getUint8(4) & 3) + 1, units };
}

/** A packet with lengths of four bytes, and before a key frame the parameter sets if wanted. */
export function withParameterSets(
  packet: { readonly data: Uint8Array; readonly type: "key" | "delta" },
  { lengthBytes, units }: ParameterSets,
  isWanted: boolean,
): Uint8Array {
  const before = isWanted && packet.type === "key" ? units : [];
  if (before.length === 0 && lengthBytes === LENGTH_BYTES) return packet.data;
  return joinUnits([...before, ...unitsOf(packet.data, lengthBytes)]);
}

function unitsOf(data: Uint8Array, lengthBytes: number): Uint8Array[] {
  const units: Uint8Array[] = [];
  for (let at = 0; at + lengthBytes <= data.length;) {
    let length = 0;
    for (let byte = 0; byte < lengthBytes; byte++) length = length * 256 + data[at + byte]!;
    units.push(data.subarray(at + lengthBytes, at + lengthBytes + length));
    at += lengthBytes + length;
  }
  return units;
}

function joinUnits(units: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(units.reduce((sum, unit) => sum + LENGTH_BYTES + unit.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const unit of units) {
    view.setUint32(at, unit.length);
    bytes.set(unit, at + LENGTH_BYTES);
    at += LENGTH_BYTES + unit.length;
  }
  return bytes;
}
