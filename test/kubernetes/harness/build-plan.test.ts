import { describe, expect, it } from 'vitest';
import { buildDirectory } from './binaries.ts';
import { type BuildInputs, buildPlan } from './build-plan.ts';

const inputs: BuildInputs = {
  goMod: 'module x\n\nrequire (\n\tk8s.io/kubernetes v1.36.3\n)\n',
  otherFiles: ['sums', 'package main'],
  platform: 'linux',
  architecture: 'x64',
};

describe('buildPlan', () => {
  it('takes the version of Kubernetes from go.mod and builds it into the binaries', () => {
    const plan = buildPlan(inputs);
    expect(plan.kubernetesVersion).toBe('1.36.3');
    expect(plan.kubernetesArguments.join(' ')).toContain('version.gitVersion=v1.36.3 ');
    expect(() => buildPlan({ ...inputs, goMod: 'module x\n' })).toThrow('requires no k8s.io/kubernetes');
  });

  it('gives every build a name of its own that tells its versions and machine', () => {
    expect(buildPlan(inputs).key).toMatch(/^kubernetes-1\.36\.3-kwok-[\d.]+-linux-x64-[0-9a-f]{12}$/);
    const keys = [
      inputs,
      { ...inputs, goMod: inputs.goMod.replace('1.36.3', '1.36.4') },
      { ...inputs, goMod: `${inputs.goMod}// changed\n` },
      { ...inputs, otherFiles: ['other sums', 'package main'] },
      { ...inputs, platform: 'darwin' },
      { ...inputs, architecture: 'arm64' },
    ].map((changed) => buildPlan(changed).key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(buildPlan({ ...inputs }).key).toBe(keys[0]);
  });
});

describe('buildDirectory', () => {
  it('is in the cache of the user, or where the environment says', () => {
    const plan = buildPlan(inputs);
    expect(buildDirectory(plan, {})).toMatch(new RegExp(`/\\.cache/spindrift/control-plane/${plan.key}$`));
    expect(buildDirectory(plan, { XDG_CACHE_HOME: '/x' })).toBe(`/x/spindrift/control-plane/${plan.key}`);
    expect(buildDirectory(plan, { XDG_CACHE_HOME: '/x', SPINDRIFT_CONTROL_PLANE_CACHE: '/y' })).toBe(`/y/${plan.key}`);
  });
});
