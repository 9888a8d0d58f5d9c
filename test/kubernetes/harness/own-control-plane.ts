import { join } from 'node:path';
import { inject } from 'vitest';
import type { ApiServerSettings } from './components.ts';
import { ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import { Guard } from './guard.ts';

/**
 * A control plane for a single test file, which may break it. By default only etcd and the API server. Its logs are in the run's folder,
 * under the given name.
 */
export function ownControlPlane(
  name: string,
  components: ControlPlaneOptions['components'] = {},
  apiServer: ApiServerSettings = {},
): ControlPlane {
  const { binaries, directory } = inject('controlPlane');
  // A test process survives a killed test runner until its test times out; its children should not.
  process.once('disconnect', () => process.kill(process.pid));
  return new ControlPlane({
    binaries,
    directory: join(directory, name),
    guard: new Guard(),
    components: { controllerManager: false, scheduler: false, kwok: false, ...components },
    apiServer,
  });
}
