/** A control plane with its temporary folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { ensureBinaries } from './build.ts';
import { ControlPlane } from './control-plane.ts';
import { Guard } from './guard.ts';

/** A running control plane. */
export interface Run {
  readonly controlPlane: ControlPlane;
  readonly binaries: Binaries;
  /** The folder of the run, for logs and files. */
  readonly directory: string;
  /** For processes started beside the control plane. */
  readonly guard: Guard;
  /** Stops everything and removes the folder; after a failure the folder stays, and its path is printed. */
  end(passed: boolean): Promise<void>;
}

/** Builds missing binaries and starts a control plane with all its programs. */
export async function startRun(): Promise<Run> {
  const directory = mkdtempSync(join(tmpdir(), 'spindrift-kubernetes-'));
  const guard = new Guard({ directory });
  const end = (passed: boolean): void => {
    guard.dismiss();
    if (passed) rmSync(directory, { recursive: true, force: true });
    else process.stderr.write(`kubernetes: that failed; the logs of the control plane are kept in ${directory}\n`);
  };
  try {
    const binaries = await ensureBinaries();
    const controlPlane = new ControlPlane({ binaries, directory: join(directory, 'control-plane'), guard });
    await controlPlane.start();
    return {
      controlPlane,
      binaries,
      directory,
      guard,
      end: async (passed) => {
        let whole = false;
        try {
          await controlPlane.stop();
          whole = true;
        } finally {
          end(passed && whole);
        }
      },
    };
  } catch (error) {
    end(false);
    throw error;
  }
}
