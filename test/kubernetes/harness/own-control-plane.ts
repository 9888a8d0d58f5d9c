import { join } from 'node:path';
import { inject } from 'vitest';
import type { ApiServerSettings } from './components.ts';
import { ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import { Guard } from './guard.ts';

/**
 * A control plane for one test file to break as it likes, started and stopped by that file. It is etcd and the API
 * server alone unless more is asked for. Its logs are in the run's folder, under the name given.
 */
export function ownControlPlane(
  name: string,
  components: ControlPlaneOptions['components'] = {},
  apiServer: ApiServerSettings = {},
): ControlPlane {
  const { binaries, directory } = inject('controlPlane');
  // A test process outlives a killed test runner until its test times out; what it started should not.
  process.once('disconnect', () => process.kill(process.pid));
  return new ControlPlane({
    binaries,
    directory: join(directory, name),
    guard: new Guard(),
    components: { controllerManager: false, scheduler: false, kwok: false, ...components },
    apiServer,
  });
}
