/**
 * As much of D-Bus as it takes to hear one signal of systemd-logind, PrepareForShutdown, on the system bus. A library would
 * bring an XML parser and megabytes of memory to every node for these hundred lines; `busctl` is not in small images.
 * Messages are read with the layout of the D-Bus specification ("Message Protocol", "Marshaling").
 */
import { createConnection, type Socket } from 'node:net';

export interface SignalMessage {
  readonly interface: string;
  readonly member: string;
  readonly body: Buffer;
  readonly littleEndian: boolean;
}

const LONGEST_MESSAGE = 1_048_576;
const METHOD_CALL = 1;
const SIGNAL = 4;
const FIELD = { path: 1, interface: 2, member: 3, destination: 6, signature: 8 } as const;

/** A method call on the bus itself, with texts as its arguments. */
export function busCall(serial: number, member: string, ...args: readonly string[]): Buffer {
  const body = concatAligned(args.map(stringOf), 4);
  const fields = [
    headerField(FIELD.path, 'o', '/org/freedesktop/DBus'),
    headerField(FIELD.interface, 's', 'org.freedesktop.DBus'),
    headerField(FIELD.member, 's', member),
    headerField(FIELD.destination, 's', 'org.freedesktop.DBus'),
    ...(args.length === 0 ? [] : [headerField(FIELD.signature, 'g', 's'.repeat(args.length))]),
  ];
  const array = concatAligned(fields, 8);
  const head = Buffer.alloc(16);
  head.write('l', 0, 'latin1');
  head[1] = METHOD_CALL;
  head[3] = 1;
  head.writeUInt32LE(body.length, 4);
  head.writeUInt32LE(serial, 8);
  head.writeUInt32LE(array.length, 12);
  return Buffer.concat([aligned(Buffer.concat([head, array]), 8), body]);
}

/** Splits bytes into messages; returns the signals among them, and the remaining bytes. */
export function readSignals(bytes: Buffer): { readonly signals: readonly SignalMessage[]; readonly rest: Buffer } {
  const signals: SignalMessage[] = [];
  let rest = bytes;
  while (rest.length >= 16) {
    const littleEndian = rest[0] === 0x6c;
    if (!littleEndian && rest[0] !== 0x42) throw new Error('the bus does not speak D-Bus');
    const read = (at: number): number => (littleEndian ? rest.readUInt32LE(at) : rest.readUInt32BE(at));
    const fieldsEnd = 16 + read(12);
    const bodyStart = Math.ceil(fieldsEnd / 8) * 8;
    const end = bodyStart + read(4);
    if (end > LONGEST_MESSAGE) throw new Error('a message of the bus is too long');
    if (rest.length < end) break;
    if (rest[1] === SIGNAL) {
      const fields = textFields(rest.subarray(0, fieldsEnd), read);
      const name = fields.get(FIELD.interface) ?? '';
      const member = fields.get(FIELD.member) ?? '';
      signals.push({ interface: name, member, body: rest.subarray(bodyStart, end), littleEndian });
    }
    rest = rest.subarray(end);
  }
  return { signals, rest };
}

/** Connects to a bus, authenticates, and subscribes; `onSignal` receives signals that match the rule until the socket closes. */
export async function subscribe(
  path: string,
  rule: string,
  onSignal: (message: SignalMessage) => void,
  signal: AbortSignal,
): Promise<void> {
  const socket = createConnection({ path });
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await authenticate(socket);
    socket.write(Buffer.concat([busCall(1, 'Hello'), busCall(2, 'AddMatch', rule)]));
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      const read = readSignals(Buffer.concat([rest, chunk]));
      rest = read.rest;
      for (const message of read.signals) onSignal(message);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    socket.destroy();
  }
}

/** The EXTERNAL mechanism: the kernel tells the bus our user. */
async function authenticate(socket: Socket): Promise<void> {
  const uid = process.getuid?.() ?? 0;
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => socket.write(`\0AUTH EXTERNAL ${Buffer.from(String(uid)).toString('hex')}\r\n`));
    socket.once('data', (answer: Buffer) => {
      socket.pause();
      socket.off('error', reject);
      if (!answer.toString('latin1').startsWith('OK ')) return reject(new Error('the bus refuses our user'));
      socket.write('BEGIN\r\n');
      resolve();
    });
    socket.once('close', () => reject(new Error('the bus closed the connection')));
  });
}

function textFields(message: Buffer, read: (at: number) => number): ReadonlyMap<number, string> {
  const fields = new Map<number, string>();
  for (let at = 16; at + 8 < message.length; ) {
    const code = message[at] ?? 0;
    const type = message.toString('latin1', at + 2, at + 3);
    let end: number;
    if (type === 'g') end = at + 5 + (message[at + 4] ?? 0) + 1;
    else if (type === 'u') end = at + 8;
    else if (type === 's' || type === 'o') end = at + 8 + read(at + 4) + 1;
    else break;
    if (type === 's' || type === 'o') fields.set(code, message.toString('utf8', at + 8, end - 1));
    at = Math.ceil(end / 8) * 8;
  }
  return fields;
}

function headerField(code: number, type: string, text: string): Buffer {
  const variant = Buffer.from([code, 1, type.charCodeAt(0), 0]);
  if (type === 'g') return Buffer.concat([variant, Buffer.from([text.length]), Buffer.from(`${text}\0`)]);
  return Buffer.concat([variant, stringOf(text)]);
}

function stringOf(text: string): Buffer {
  const bytes = Buffer.from(`${text}\0`);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length - 1);
  return Buffer.concat([length, bytes]);
}

function concatAligned(parts: readonly Buffer[], to: number): Buffer {
  return parts.reduce<Buffer>((whole, part) => Buffer.concat([aligned(whole, to), part]), Buffer.alloc(0));
}

function aligned(bytes: Buffer, to: number): Buffer {
  const missing = (to - (bytes.length % to)) % to;
  return missing === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(missing)]);
}
