/** Frames on a terminal: only lines that differ from those of the frame before are written. */

/** The terminal that is drawn on. */
export interface ScreenOutput {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[2J';
const LEAVE = '\x1b[?25h\x1b[?1049l';
/** A terminal that knows these shows a frame as a whole; others pass over them. */
const BEGIN = '\x1b[?2026h';
const END = '\x1b[?2026l';

/** A page of a terminal that frames are drawn on. */
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

  /** Takes a page of its own, so that what was on the terminal comes back afterwards. */
  enter(): void {
    this.#shown = [];
    this.#output.write(ENTER);
  }

  /** Nothing that was drawn is still where it was. */
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
