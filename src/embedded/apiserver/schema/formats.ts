/** The string formats that the API server checks; other formats are not checked. */
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { parseDuration } from '../../../apis/kubernetes/go-duration.ts';

const SHORT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const HOST_LABEL = /^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})?$/;

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  uri: isRequestUri,
  email: (text) => /^(?:[^<>]*<)?[^\s@<>]+@[^\s@<>]+>?$/.test(text),
  hostname: (text) =>
    text.length <= 255 && text.split('.').every((label) => label.length <= 63 && HOST_LABEL.test(label)),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  mac: (text) =>
    /^(?:[0-9a-f]{2}([:-]))(?:[0-9a-f]{2}\1){4}(?:[0-9a-f]{2}\1[0-9a-f]{2}\1)?[0-9a-f]{2}$/i.test(text) ||
    /^(?:[0-9a-f]{4}\.){2,3}[0-9a-f]{4}$/i.test(text),
  uuid: (text) => UUID.test(text),
  uuid3: (text) => UUID.test(text) && text.replaceAll('-', '')[12] === '3',
  uuid4: (text) => UUID.test(text) && text.replaceAll('-', '')[12] === '4' && isVariant(text),
  uuid5: (text) => UUID.test(text) && text.replaceAll('-', '')[12] === '5' && isVariant(text),
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  rgbcolor: (text) => /^rgb\(\s*(?:\d{1,3}\s*,\s*){2}\d{1,3}\s*\)$/.test(text),
  byte: (text) => text !== '' && BASE64.test(text),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && SHORT_NAME.test(text),
  k8slongname: (text) => text.length <= 253 && text.split('.').every((label) => SHORT_NAME.test(label)),
};

/** Whether a string has a format; true for formats that are not checked. */
export function hasFormat(text: string, format: string): boolean {
  const check = FORMATS[format.replaceAll('-', '')];
  return check === undefined || check(text);
}

/** Whether a string format is checked. */
export function isCheckedFormat(format: string): boolean {
  return Object.hasOwn(FORMATS, format.replaceAll('-', ''));
}

function isVariant(uuid: string): boolean {
  return /[89ab]/i.test(uuid.replaceAll('-', '')[16] ?? '');
}

function isRequestUri(text: string): boolean {
  if (text.startsWith('/')) return !/\s/.test(text);
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:\S+$/.test(text) && URL.canParse(text);
}

/** `10.0.0.0/8`, `fd00::/8`. */
function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/');
  const family = isIP(address);
  return family !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return days !== undefined && day >= 1 && day <= days;
}

function isDateTime(text: string): boolean {
  const match = /^(.{10})[tT](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:z|Z|[+-]\d{2}:\d{2})$/.exec(text);
  if (match === null) return false;
  const [, date = '', hours = '', minutes = '', seconds = ''] = match;
  return isDate(date) && hours <= '23' && minutes <= '59' && seconds <= '59';
}

/** A Go duration, or words: `22 ns`, `3 days`. */
function isDuration(text: string): boolean {
  return (
    parseDuration(text) !== undefined ||
    /^\s*-?\d+\s*(?:ns|nano|us|µs|micro|ms|milli|s|sec|m|min|h|hr|hour|d|day|w|wk|week)/i.test(text)
  );
}
