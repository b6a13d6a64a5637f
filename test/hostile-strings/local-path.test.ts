// The provisioner of `local-path`: the directories that it makes, limits and removes for objects with hostile texts.
import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import { persistentVolumeClaim } from '../../src/api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../src/api/core/v1/volume/persistent-volume.ts'
import { storageClass } from '../../src/api/storage/v1/storage-class.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import { SimulatedDisk } from '../../src/machine/disk/simulated-disk.ts'
import { SimulatedQuotas } from '../../src/machine/quotas/simulated-quotas.ts'
import { localPathClass, localPathProvisionerName } from '../../src/storage/local-path/local-path-class.ts'
import { startLocalPathProvisioner } from '../../src/storage/local-path/local-path-provisioner.ts'
import { NodeVolumes } from '../../src/storage/local-path/node-volumes.ts'
import { provisionerFinalizer } from '../../src/storage/provisioning/provisioning.ts'
import * as base from './base-objects.ts'
import { pathViolations, targetViolations, type Violation } from './checks.ts'
import { recordedApi, type KindObjects } from './recorded-api.ts'
import { recordedCalls } from './recorded-calls.ts'
import { reportOf, variantsOf, type BaseObject } from './variants.ts'

const directory = '/volumes'

/** A claim that waits for its volume. */
const waitingClaim: BaseObject = (index) =>
  base.stored(persistentVolumeClaim, `claim-${index}`, index, {
    metadata: {
      annotations: {
        'volume.kubernetes.io/storage-provisioner': localPathProvisionerName,
        'volume.kubernetes.io/selected-node': base.nodeName,
      },
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local-path',
      volumeMode: 'Filesystem',
      resources: { requests: { storage: '1Gi' } },
    },
    status: { phase: 'Pending' },
  })

/** A volume whose claim is gone. */
const releasedVolume: BaseObject = (index) =>
  base.stored(persistentVolume, `volume-${index}`, index, {
    metadata: {
      annotations: { 'pv.kubernetes.io/provisioned-by': localPathProvisionerName },
      finalizers: [provisionerFinalizer],
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      storageClassName: 'local-path',
      persistentVolumeReclaimPolicy: 'Delete',
      local: { path: `${directory}/volume-${index}` },
      claimRef: { namespace: 'default', name: `claim-${index}`, uid: `gone-${index}` },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [base.nodeName] }] },
          ],
        },
      },
    },
    status: { phase: 'Released' },
  })

/** A volume whose name and path are those of the directory that contains all volumes. */
const parentVolume = JSON.parse(JSON.stringify(releasedVolume(9_999)).replaceAll('volume-9999', '..')) as object

const classOf: BaseObject = (index) =>
  base.stored(storageClass, index === 0 ? 'local-path' : `class-${index}`, index, localPathClass(true))

const plain: KindObjects = [
  { kind: storageClass, object: classOf(0) },
  { kind: persistentVolumeClaim, object: waitingClaim(0) },
  { kind: persistentVolume, object: parentVolume },
]

async function effectsOf(objects: KindObjects) {
  const clock = new VirtualClock(Date.parse('2030-01-01T00:00:00Z'))
  const api = recordedApi([...plain, ...objects])
  const paths = new Set<string>()
  const files = new SimulatedDisk()
  const note = (_: string, [path]: readonly unknown[]) => void paths.add(String(path))
  const disk = recordedCalls(files, note)
  const quotas = recordedCalls(new SimulatedQuotas(files), note)
  const nodes = new Map([[base.nodeName, new NodeVolumes({ directory, disk, quotas, isVolatile: false })]])
  {
    await using tasks = new TaskGroup()
    startLocalPathProvisioner({ client: api.client, clock, random: seededRandom(1), log: silentLog, nodes }, tasks)
    await clock.advance('10s')
  }
  return { api, paths }
}

const violationsIn = ({ api, paths }: Awaited<ReturnType<typeof effectsOf>>): Violation[] => [
  ...[...paths].flatMap((path) => pathViolations(path, [directory])),
  ...[...api.targets].flatMap(targetViolations),
]

test('directories of waiting claims are made, and those of released volumes are removed', async () => {
  const effects = await effectsOf([{ kind: persistentVolume, object: releasedVolume(1) }])
  ok(effects.paths.has(`${directory}/pvc-uid-0`) && effects.paths.has(`${directory}/volume-1`))
  deepEqual(violationsIn(effects), [])
})

const kinds: readonly (readonly [Kind, BaseObject])[] = [
  [persistentVolumeClaim, waitingClaim],
  [persistentVolume, releasedVolume],
  [storageClass, classOf],
]
for (const [kind, baseObject] of kinds)
  test(`hostile texts in a ${kind.kind} name no other directory of the node`, async () => {
    const found: string[] = []
    for (const variants of variantsOf(kind, baseObject)) {
      const effects = await effectsOf(variants.map(({ object }) => ({ kind, object })))
      found.push(...reportOf(violationsIn(effects), variants))
      ok(effects.paths.has(`${directory}/pvc-uid-0`), 'another claim gets its directory')
    }
    deepEqual(found, [])
  })
