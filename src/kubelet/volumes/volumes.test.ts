import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../base/clock.ts'
import { context } from '../../base/context.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { pod, type Pod } from '../../api/core/v1/pod.ts'
import { secret } from '../../api/core/v1/secret.ts'
import type { Kind } from '../../api/kind.ts'
import type { ApiObject } from '../../api/object.ts'
import { SimulatedDisk } from '../../machine/disk/simulated-disk.ts'
import { decode } from '../../schema/decode.ts'
import { withDefaults } from '../../schema/defaults.ts'
import { PodVolumes } from '../pod-volumes.ts'
import { volumeTypes } from '../volumes.ts'
import type { VolumeSources } from './volume-type.ts'

const ctx = context(new AbortController().signal)
const made = <T extends ApiObject>(kind: Kind<T>, body: object): T =>
  kind.applyDefaults(withDefaults(kind.message, decode(kind.message, body).value as unknown as T))

const podWith = (volume: object, spec: object = {}): Pod =>
  made(pod, {
    metadata: { name: 'web', namespace: 'default', uid: 'u', labels: { a: '1' } },
    spec: {
      containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
      volumes: [{ name: 'v', ...volume }],
      ...spec,
    },
  })

const sources: VolumeSources = {
  configMap: (_, name) =>
    Promise.resolve(
      name === 'settings' ? made(configMap, { metadata: { name }, data: { color: 'red', size: 'big' } }) : undefined,
    ),
  secret: (_, name) =>
    Promise.resolve(
      name === 'keys' ? made(secret, { metadata: { name }, data: { token: btoa('hunter2') } }) : undefined,
    ),
  token: (_, audience, seconds) => Promise.resolve(`token for ${audience ?? 'us'} over ${seconds} s`),
}

function volumesOn(disk: SimulatedDisk): PodVolumes {
  const node = { nodeName: 'n', hostIp: '10.0.0.1', allocatable: {} }
  return new PodVolumes({ disk, sources, paths: { pods: '/pods', logs: '/logs' }, node, clock: realClock })
}

async function mounted(volume: object, spec: object = {}, disk = new SimulatedDisk()) {
  const places = await volumesOn(disk).mount(podWith(volume, spec), ['10.1.0.2'], ctx)
  const place = places.get('v') ?? ''
  const text = async (path: string) => {
    const bytes = await disk.readEnd(`${place}/${path}`, 1_000)
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
  }
  return { disk, place, text }
}

const files: [what: string, volume: object, path: string, expected: string | undefined][] = [
  ['a ConfigMap', { configMap: { name: 'settings' } }, 'color', 'red'],
  ['a chosen key', { configMap: { name: 'settings', items: [{ key: 'size', path: 'a/b' }] } }, 'a/b', 'big'],
  ['what was not chosen', { configMap: { name: 'settings', items: [{ key: 'size', path: 's' }] } }, 'color', undefined],
  ['an optional ConfigMap', { configMap: { name: 'no', optional: true } }, 'color', undefined],
  ['a Secret', { secret: { secretName: 'keys' } }, 'token', 'hunter2'],
  [
    'a field',
    { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    'labels',
    'a="1"',
  ],
  [
    'a projected token',
    { projected: { sources: [{ serviceAccountToken: { path: 't', audience: 'x', expirationSeconds: 600 } }] } },
    't',
    'token for x over 600 s',
  ],
  [
    'one of several projected sources',
    { projected: { sources: [{ configMap: { name: 'settings' } }, { secret: { name: 'keys' } }] } },
    'token',
    'hunter2',
  ],
]
for (const [what, volume, path, expected] of files)
  test(`a volume shows ${what}`, async () => equal(await (await mounted(volume)).text(path), expected))

const refused: [volume: object, message: RegExp][] = [
  [{ configMap: { name: 'no' } }, /^MountVolume.SetUp failed for volume "v" : configmap "no" not found$/],
  [{ secret: { secretName: 'no' } }, /secret "no" not found$/],
  [{ configMap: { name: 'settings', items: [{ key: 'no', path: 'x' }] } }, /references non-existent config key: no$/],
  [{ hostPath: { path: '/none', type: 'Directory' } }, /hostPath type check failed: \/none is not a directory$/],
  [{ nfs: { server: 's', path: '/' } }, /volumes of type nfs are not supported on this node$/],
]
for (const [volume, message] of refused)
  test(`a volume that cannot be had says why: ${message.source}`, () => rejects(mounted(volume), { message }))

test('secrets are in memory, and all goes with the pod', async () => {
  const { disk, place } = await mounted({ secret: { secretName: 'keys' } })
  match(place, /^\/pods\/u\/volumes\/kubernetes\.io~secret\/v$/)
  deepEqual(await disk.mountsBelow('/pods'), [place])
  await volumesOn(disk).remove('u')
  deepEqual([await disk.mountsBelow('/pods'), await disk.list('/pods/u')], [[], []])
})

test('an emptyDir stays as it is while its pod lives, in memory where asked', async () => {
  const disk = new SimulatedDisk()
  const { place } = await mounted({ emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }, {}, disk)
  await disk.write(`${place}/kept`, { content: new Uint8Array(3), mode: 0o644 })
  const again = await mounted({ emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }, {}, disk)
  equal((await disk.list(again.place)).includes('kept'), true)
})

test('a hostPath is made where its type says so', async () => {
  const { disk } = await mounted({ hostPath: { path: '/data', type: 'DirectoryOrCreate' } })
  equal(await disk.kindOf('/data'), 'folder')
})

test('a container sees its mounts, below a path with variables, and only what is there', async () => {
  const disk = new SimulatedDisk()
  const volumes = volumesOn(disk)
  await disk.makeFolder('/place', 0o755)
  const mounts = await volumes.mountsOf(
    { volumeMounts: [{ name: 'v', mountPath: '/in', subPathExpr: '$(NAME)/x', readOnly: true }] },
    new Map([['v', '/place']]),
    new Map([['NAME', 'web']]),
  )
  deepEqual(mounts, [{ hostPath: '/place/web/x', containerPath: '/in', readOnly: true, propagation: 'private' }])
  await rejects(
    volumes.mountsOf({ volumeMounts: [{ name: 'no', mountPath: '/x' }] }, new Map(), new Map()),
    /not mounted/,
  )
})

test('the types are listed in the order of the alphabet', () => {
  const names = volumeTypes.map(({ name }) => name)
  deepEqual(names, names.toSorted())
})
