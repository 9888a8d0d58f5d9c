import { wrapped } from '../wrapped.ts';
import { CHECKS, type Finding, type FindingStatus } from './finding.ts';

const WIDTH = 120;
const MARKS: Readonly<Record<FindingStatus, string>> = { ok: 'ok', warning: 'WARN', failed: 'FAIL', skipped: 'skip' };
const CHECK_WIDTH = Math.max(...CHECKS.map((check) => check.length));

/** One line for each finding, what to do below it, and how many are bad. */
export function doctorText(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ check, status, text, todo }) => [
    wrapped(`${MARKS[status].padEnd(4)}  ${check.padEnd(CHECK_WIDTH)}  ${text}`, WIDTH),
    ...(todo === undefined ? [] : [wrapped(`      ${' '.repeat(CHECK_WIDTH)}  to do: ${todo}`, WIDTH)]),
  ]);
  const count = (wanted: FindingStatus): number => findings.filter(({ status }) => status === wanted).length;
  const [failed, warnings, skipped] = [count('failed'), count('warning'), count('skipped')];
  const verdict =
    failed + warnings === 0
      ? 'Nothing is wrong.'
      : `${failed} failed, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`;
  const left = skipped === 0 ? '' : ` ${skipped} skipped.`;
  return `${lines.join('\n')}\n\n${verdict}${left}\n`;
}
