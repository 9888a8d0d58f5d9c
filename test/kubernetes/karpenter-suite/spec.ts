/** The specs of the suite, and what became of them. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A spec by its texts: containers from the outermost to the innermost, then its own. */
export interface Spec {
  readonly name: string;
  /** The outermost container: `Drift`, `NodeClaim`. */
  readonly group: string;
}

export interface SpecResult {
  readonly spec: string;
  readonly outcome: 'passed' | 'failed' | 'timed out' | 'skipped';
  readonly seconds: number;
  /** The first lines of what the suite complained about. */
  readonly message?: string;
}

/** The part of Ginkgo's report that is read here. */
export interface GinkgoReport {
  readonly SpecReports: readonly {
    readonly LeafNodeType: string;
    readonly ContainerHierarchyTexts: readonly string[] | null;
    readonly LeafNodeText: string;
    readonly State: string;
    readonly RunTime: number;
    readonly Failure?: {
      readonly Message: string;
      /** Where the spec stood when it was cut off. */
      readonly ProgressReport?: {
        readonly Goroutines?: readonly {
          readonly IsSpecGoroutine?: boolean;
          readonly Stack: readonly { readonly Filename: string; readonly Line: number; readonly Highlight?: boolean }[];
        }[];
      };
    };
  }[];
}

/** All specs of the suite, in its order. Nothing is run, and no cluster is needed. */
export async function listSpecs(suite: string): Promise<Spec[]> {
  const directory = mkdtempSync(join(tmpdir(), 'spindrift-specs-'));
  try {
    const report = join(directory, 'report.json');
    await promisify(execFile)(suite, ['--ginkgo.dry-run', `--ginkgo.json-report=${report}`], { cwd: directory });
    const [{ SpecReports: specs }] = JSON.parse(readFileSync(report, 'utf8')) as [GinkgoReport];
    return specs
      .filter(({ LeafNodeType }) => LeafNodeType === 'It')
      .map(({ ContainerHierarchyTexts, LeafNodeText }) => ({
        name: [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(' '),
        group: ContainerHierarchyTexts?.[0] ?? LeafNodeText,
      }));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
