// The kubelet: the paths, files, mounts, requests and configurations that it makes from objects with hostile texts in any
// string field.
import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { FlowRecorder } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { node } from '../../src/api/core/v1/node/node.ts'
import { persistentVolumeClaim } from '../../src/api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../src/api/core/v1/volume/persistent-volume.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { secret } from '../../src/api/core/v1/secret.ts'
import { service, type Service } from '../../src/api/core/v1/service/service.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import { Kubelet } from '../../src/kubelet/kubelet.ts'
import { defaultKubeletSettings } from '../../src/kubelet/node/kubelet-settings.ts'
import * as base from './base-objects.ts'
import {
  lineViolations,
  mountViolations,
  pathViolations,
  relativePathViolations,
  requestViolations,
  targetViolations,
  type Violation,
} from './checks.ts'
import { markOf, type HostileText } from './hostile-texts.ts'
import { recordedApi, type KindObjects, type RecordedApi } from './recorded-api.ts'
import { recordedHost, type HostRecord } from './recorded-host.ts'
import { reportOf, textsOfTests, variantsOf, type BaseObject } from './variants.ts'

const plain: KindObjects = [
  { kind: node, object: base.nodeOf(0) },
  { kind: pod, object: base.podOf(0) },
  { kind: configMap, object: base.configMapOf(0) },
  { kind: secret, object: base.secretOf(0) },
  { kind: persistentVolumeClaim, object: base.claimOf(0) },
  { kind: persistentVolume, object: base.volumeOf(0) },
]

const description = {
  name: base.nodeName,
  hostIp: '198.18.0.1',
  runtime: 'simulated://1',
  operatingSystem: 'linux',
  capacity: { cpu: '1000', memory: '4000Gi', pods: '1000' },
  architecture: 'arm64',
  podCidrs: ['10.213.0.0/16'],
}

/** Runs a kubelet with these objects beside the plain ones. */
async function effectsOf(objects: KindObjects) {
  const clock = new VirtualClock(Date.parse('2030-01-01T00:00:00Z'))
  const all = [...plain, ...objects]
  const api = recordedApi(all)
  const { record, host, runtime } = recordedHost(clock)
  const services = all.flatMap(({ kind, object }) => (kind.plural === service.plural ? [object as Service] : []))
  const kubelet = new Kubelet({
    client: api.client,
    runtime,
    clock,
    random: seededRandom(9),
    flow: new FlowRecorder(clock),
    log: silentLog,
    description,
    host: { ...host, services: () => services },
    settings: { ...defaultKubeletSettings, podsMax: 1_000 },
  })
  {
    await using tasks = new TaskGroup()
    kubelet.start(tasks)
    await clock.advance('15s')
  }
  return { api, record }
}

/** `/kubepods` is the root of cgroups; the others are directories of the node that pods mount. */
const roots = ['/state', '/kubepods', '/srv', '/etc/hosts']

const violationsIn = ({ record, api }: { readonly record: HostRecord; readonly api: RecordedApi }): Violation[] => [
  ...[...record.paths].flatMap((path) => pathViolations(path, roots)),
  ...[...record.relativePaths].flatMap(relativePathViolations),
  ...[...record.lineFiles].flatMap(([path, content]) => lineViolations(path, content)),
  ...record.mounts.flatMap(mountViolations),
  ...record.requests.flatMap(requestViolations),
  ...[...api.targets].flatMap(targetViolations),
  ...api.unknown.map((target) => ({ text: `no resource: ${target}`, index: undefined })),
]

/** A pod of an administrator may mount any path of the host. */
const hostPaths = new Set(['spec.volumes[].hostPath.path', 'spec.hostPath.path', 'spec.local.path'])

/** Fields that become a part of a request, a path or a mount. */
const sentOfPod = [
  ...['path', 'host', 'httpHeaders[].name', 'httpHeaders[].value'].map(
    (field) => `spec.containers[].livenessProbe.httpGet.${field}`,
  ),
  'spec.containers[].lifecycle.postStart.httpGet.path',
  'metadata.name',
  'spec.containers[].name',
  'spec.containers[].volumeMounts[].subPath',
  'spec.hostAliases[].ip',
  'spec.volumes[].nfs.server',
  'spec.volumes[].configMap.items[].path',
]

const probedPath = 'spec.containers[].livenessProbe.httpGet.path'

const user = (index: number) => ({ kind: pod, object: base.userOf(index) })
const kinds: readonly (readonly [kind: Kind, base: BaseObject, companions: (index: number) => KindObjects])[] = [
  [pod, base.podOf, () => []],
  [configMap, base.configMapOf, (index) => [user(index)]],
  [secret, base.secretOf, (index) => [user(index)]],
  [
    persistentVolumeClaim,
    base.claimOf,
    (index) => [user(index), { kind: persistentVolume, object: base.volumeOf(index) }],
  ],
  [
    persistentVolume,
    base.volumeOf,
    (index) => [user(index), { kind: persistentVolumeClaim, object: base.claimOf(index) }],
  ],
  [service, base.serviceOf, () => []],
]

test('without hostile texts, the containers of all pods are started', async () => {
  const { record } = await effectsOf([user(1)])
  ok(record.started.has('uid-0'), 'the plain pod')
  ok(record.requests.some((text) => text.startsWith('GET /live')))
  ok(record.mounts.length > 0 && record.lineFiles.size > 0 && record.relativePaths.has('dir/key'))
})

const nameOf = (texts: readonly HostileText[]): string =>
  texts.length === 1 ? `hostile texts (${texts.map(({ name }) => name).join()})` : 'hostile texts'

for (const [kind, baseObject, companions, texts] of kinds.flatMap((each) =>
  textsOfTests.map((some) => [...each, some] as const),
))
  test(`${nameOf(texts)} in a ${kind.kind} stay within one path segment, argument, line or header`, async () => {
    const found: string[] = []
    for (const variants of variantsOf(kind, baseObject, {
      except: hostPaths,
      texts,
      sent: kind === pod ? sentOfPod : [],
    })) {
      const objects = variants.map(({ object }) => ({ kind, object }))
      const effects = await effectsOf([...objects, ...variants.flatMap(({ index }) => companions(index))])
      found.push(...reportOf(violationsIn(effects), variants))
      ok(effects.record.started.has('uid-0'), 'the containers of another pod are started')
      // A path is escaped, not rejected: a request without it would hide that nothing escapes it.
      for (const { field, hostile, index } of variants)
        if (field.path === probedPath && hostile.textOf(markOf(index)).includes(markOf(index)))
          ok(
            effects.record.requests.some((text) => text.includes(markOf(index))),
            `a probe asks for a path with ${hostile.name}`,
          )
    }
    deepEqual(found, [])
  })
