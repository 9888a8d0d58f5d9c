/** Draws frames on a terminal; writes only lines that changed since the last frame. */

/** The terminal to draw on. */
export interface ScreenOutput {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[2J';
const LEAVE = '\x1b[?25h\x1b[?1049l';
/** Synchronized output: terminals that know it show a frame as a whole, others ignore it. */
const BEGIN = '\x1b[?2026h';
const END = '\x1b[?2026l';

/** The alternate page of a terminal. */
export class Screen {
  readonly #output: ScreenOutput;
  #shown: readonly string[] = [];

  constructor(output: ScreenOutput) {
    this.#output = output;
  }

  get width(): number {
    return this.#output.columns ?? 80;
  }

  get height(): number {
    return this.#output.rows ?? 24;
  }

  /** Switches to the alternate page, so that the terminal's content comes back afterwards. */
  enter(): void {
    this.#shown = [];
    this.#output.write(ENTER);
  }

  /** Forgets the last frame, for example after a resize. */
  resized(): void {
    this.#shown = [];
    this.#output.write('\x1b[2J');
  }

  draw(lines: readonly string[]): void {
    const frame = lines.slice(0, this.height);
    let changes = '';
    for (let row = 0; row < Math.max(frame.length, this.#shown.length); row++) {
      const line = frame[row] ?? '';
      if (line !== (this.#shown[row] ?? '')) changes += `\x1b[${row + 1};1H${line}\x1b[K`;
    }
    if (changes !== '') this.#output.write(`${BEGIN}${changes}${END}`);
    this.#shown = frame;
  }

  leave(): void {
    this.#output.write(LEAVE);
  }
}
