// Nothing is left behind: mounts, cgroups and directories are as before after many pods were created and deleted, while
// everything except the containers was killed in between.
import { deepEqual } from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { NodeCgroups } from '../../src/machine/cgroups/node-cgroups.ts'
import { inNamespaces } from './namespaces.ts'
import { startRealUp, type RealUp } from './up.harness.ts'

/** A long run creates 200 pods; a run of all tests creates fewer, with the same kills. */
const isLong = process.env['COXSWAIN_LONG'] === '1'
const [waves, podsPerWave] = isLong ? [10, 20] : [2, 10]

const podOf = (name: string, image: string, index: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'c',
        image,
        resources: [{}, { requests: { cpu: '1m' } }, { limits: { cpu: '10m', memory: '16Mi' } }][index % 3],
        volumeMounts: [
          { name: 'settings', mountPath: '/settings' },
          { name: 'memory', mountPath: '/memory' },
          { name: 'disk', mountPath: '/disk', subPath: 'deep/er' },
        ],
      },
    ],
    volumes: [
      { name: 'settings', configMap: { name: 'settings' } },
      { name: 'memory', emptyDir: { medium: 'Memory' } },
      { name: 'disk', emptyDir: {} },
    ],
  },
})

async function left(up: RealUp) {
  const cgroups = await NodeCgroups.open()
  const classes = ['', '/burstable', '/besteffort']
  const groups = await Promise.all(classes.map((name) => cgroups.list(`${up.cgroupRoot}${name}`)))
  return {
    mounts: await up.mounts(),
    groups: groups.flat().filter((name) => name.startsWith('pod')),
    folders: await readdir(up.podsFolder).catch(() => []),
    logs: await readdir(join(up.podsFolder, '..', 'logs')).catch(() => []),
    addresses: (await readdir(join(up.podsFolder, '..', 'addresses', 'coxswain')).catch(() => [])).filter((name) =>
      /^\d/.test(name),
    ),
  }
}

inNamespaces(
  import.meta.url,
  () => {
    test(`${waves * podsPerWave} pods and ${waves * 2} kills leave nothing behind`, async () => {
      await using up = await startRealUp()
      const before = await left(up)
      await up.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { color: 'red' } })
      for (let wave = 0; wave < waves; wave++) {
        const names = Array.from({ length: podsPerWave }, (_, index) => `pod-${wave}-${index}`)
        await up.apply(...names.map((name, index) => podOf(name, up.image, index)))
        // Killed while pods start, and again while they stop.
        await up.crash()
        await up.k(['wait', 'pod', '--all', '--for=condition=Ready', '--timeout=200s'])
        await up.k(['delete', 'pod', '--all', '--wait=false'])
        await up.crash()
        await up.k(['wait', 'pod', '--all', '--for=delete', '--timeout=200s'])
      }
      deepEqual(await left(up), before)
    })
  },
  isLong ? 1_800_000 : undefined,
)
