import { defineConfig } from 'vitest/config';

/**
 * Rings, from fast to real. A test says which ring it is in by its name:
 * - `*.test.ts`: unit and property tests, pure or on the virtual clock, milliseconds each
 * - `*.component.test.ts`: real sockets, files or processes on this machine, or the embedded cluster
 * - `test/aws/**` and `*.aws.test.ts`: against an AWS account on loopback (`npm run test:aws`)
 * - `test/aws/kubernetes/**`: the same account with a real control plane and Karpenter (`npm run test:aws-kubernetes`)
 * - `test/kubernetes/**`: against a real Kubernetes control plane (`npm run test:kubernetes`)
 * - `test/machines/**`: the same with the real Cluster API core (`npm run test:machines`)
 * - `test/image/**`: the image, built and run in containers on a real control plane (`npm run test:image`)
 * - `test/models/**`: the same with real llmaz and LeaderWorkerSet (`npm run test:models`)
 */
export default defineConfig({
  test: {
    reporters: process.env.CI === undefined ? ['default'] : ['dot'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/{architecture,simulation,unit,ibm}/**/*.test.ts'],
          exclude: ['**/*.component.test.ts', '**/*.aws.test.ts'],
          pool: 'threads',
          isolate: false,
          setupFiles: ['test/setup/property-tests.ts'],
          // Properties draw hundreds of cases; the limit is for what hangs, not for what is slow on a busy machine.
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'component',
          include: ['src/**/*.component.test.ts', 'test/component/**/*.test.ts', 'test/ibm/**/*.component.test.ts'],
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'aws',
          include: ['src/**/*.aws.test.ts', 'test/aws/**/*.test.ts'],
          exclude: ['test/aws/kubernetes/**'],
          pool: 'forks',
          fileParallelism: false,
          // The judge asks for every instance type there is; the limit is for a busy machine.
          testTimeout: 300_000,
          // The first run on a machine installs moto.
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          name: 'aws-kubernetes',
          include: ['test/aws/kubernetes/**/*.test.ts'],
          pool: 'forks',
          fileParallelism: false,
          testTimeout: 400_000,
          // The first run on a machine builds Karpenter.
          hookTimeout: 1_800_000,
        },
      },
      {
        test: {
          name: 'kubernetes',
          include: ['test/kubernetes/**/*.test.ts'],
          globalSetup: ['test/kubernetes/global-setup.ts'],
          pool: 'forks',
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'machines',
          include: ['test/machines/**/*.test.ts'],
          globalSetup: ['test/kubernetes/global-setup.ts'],
          pool: 'forks',
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'image',
          include: ['test/image/**/*.test.ts'],
          globalSetup: ['test/kubernetes/global-setup.ts'],
          pool: 'forks',
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'models',
          include: ['test/models/**/*.test.ts'],
          globalSetup: ['test/kubernetes/global-setup.ts'],
          pool: 'forks',
          fileParallelism: false,
          testTimeout: 300_000,
          // The first run on a machine builds llmaz and LeaderWorkerSet.
          hookTimeout: 1_800_000,
        },
      },
    ],
  },
});
