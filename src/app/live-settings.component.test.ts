import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogThreshold } from '../platform/logger.ts';
import { createLogger } from '../platform/pino-logger.ts';
import { RealClock } from '../platform/real-clock.ts';
import { LiveSettings, type LiveValues, parseSettings } from './live-settings.ts';

const START: LiveValues = { logLevel: 'info', batchIdleMs: 1000, batchMaxMs: 10_000 };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spindrift-settings-'));
});
afterEach(() => rm(folder, { recursive: true }));

function setUp() {
  const file = join(folder, 'settings.yaml');
  const lines: { level: string; message: string; error?: string }[] = [];
  const threshold = new LogThreshold('info');
  const logger = createLogger({ level: threshold, format: 'json', write: (line) => lines.push(JSON.parse(line)) });
  const heard: LiveValues[] = [];
  const changed = (values: LiveValues): void => {
    heard.push(values);
    threshold.level = values.logLevel;
  };
  const settings = new LiveSettings({ file, clock: new RealClock(), logger, start: START, changed });
  return { file, lines, logger, heard, settings };
}

describe('LiveSettings', () => {
  it('keeps what flags say while there is no file, and says so once', async () => {
    const { lines, heard, settings } = setUp();
    await settings.look();
    await settings.look();
    expect(settings.values).toEqual(START);
    expect(heard).toEqual([]);
    expect(lines.map(({ message }) => message)).toEqual(['settings file cannot be read']);
  });

  it('takes over what the file says, for loggers that are there already too', async () => {
    const { file, lines, logger, heard, settings } = setUp();
    const child = logger.with({ controller: 'a' });
    child.debug('before');
    await writeFile(file, 'log-level: debug\nbatch-idle-duration: 250ms\n');
    await settings.look();
    await settings.look();
    child.debug('after');
    expect(heard).toEqual([{ logLevel: 'debug', batchIdleMs: 250, batchMaxMs: 10_000 }]);
    expect(lines.map(({ message }) => message)).toEqual(['settings were applied', 'after']);
  });

  it('goes back to the flags when a line is taken away', async () => {
    const { file, settings } = setUp();
    await writeFile(file, 'batch-max-duration: 1m\n');
    await settings.look();
    expect(settings.values.batchMaxMs).toBe(60_000);
    await writeFile(file, '');
    await settings.look();
    expect(settings.values).toEqual(START);
  });

  it('keeps the former settings when the file has a mistake', async () => {
    const { file, lines, settings } = setUp();
    await writeFile(file, 'batch-max-duration: 20s\n');
    await settings.look();
    await writeFile(file, 'batch-max-duration: soon\n');
    await settings.look();
    expect(settings.values.batchMaxMs).toBe(20_000);
    expect(lines.at(-1)).toMatchObject({ level: 'WARN', error: expect.stringContaining('batch-max-duration is soon') });
  });
});

describe('parseSettings', () => {
  it.each([
    ['log-levle: debug', 'log-levle cannot be set here, did you mean log-level'],
    ['log-level: loud', 'log-level is loud, but it must be one of debug, info, warn, error'],
    ['- a', 'write one setting per line'],
    ['a: [', 'settings.yaml'],
  ])('refuses %j with a sentence', (text, sentence) => {
    expect(() => parseSettings(text, 'settings.yaml')).toThrow(sentence);
  });
});
