// templateOwnerOf: the object in which a pod's spec is changed: the workload whose template the pod was created from, or the
// pod itself; and the commands that change it.
import { replicaSet } from '../../../api/apps/v1/replica-set.ts'
import { job } from '../../../api/batch/v1/job.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { controllerOf, namespaceOf } from '../../../api/meta/object.ts'
import type { ClusterReader } from './cluster-reader.ts'
import { jsonPatch, kubectl, shellWord } from './fix-command.ts'

export interface TemplateOwner {
  readonly kind: string
  readonly namespace: string
  /** `deployment/web` */
  readonly target: string
  /** The path of the pod's spec in it. */
  readonly specPath: string
  readonly isScalable: boolean
}

const scalable = new Set(['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet'])
const templated = new Set([...scalable, 'DaemonSet', 'Job'])

export async function templateOwnerOf(object: Pod, cluster: ClusterReader): Promise<TemplateOwner> {
  const namespace = namespaceOf(object)
  const owner = controllerOf(object)
  if (owner === undefined || !templated.has(owner.kind)) return ownerAt('Pod', object.metadata.name, namespace)
  const between =
    owner.kind === 'ReplicaSet'
      ? await cluster.find(replicaSet, namespace, owner.name)
      : owner.kind === 'Job'
        ? await cluster.find(job, namespace, owner.name)
        : undefined
  const above = between === undefined ? undefined : controllerOf(between)
  if (above?.kind === 'Deployment' || above?.kind === 'CronJob') return ownerAt(above.kind, above.name, namespace)
  return ownerAt(owner.kind, owner.name, namespace)
}

export function ownerAt(kind: string, name: string, namespace: string): TemplateOwner {
  const specPath =
    kind === 'Pod' ? '/spec' : kind === 'CronJob' ? '/spec/jobTemplate/spec/template/spec' : '/spec/template/spec'
  return { kind, namespace, target: `${kind.toLowerCase()}/${name}`, specPath, isScalable: scalable.has(kind) }
}

/** Opens the spec in an editor. A pod or a Job is created again, because most of its spec is immutable. */
export function editCommand({ kind, target, namespace }: TemplateOwner): string {
  if (kind !== 'Pod' && kind !== 'Job') return kubectl(namespace, 'edit', target)
  const file = shellWord(`${target.replace('/', '-')}.yaml`)
  const get = kubectl(namespace, 'get', target, '-o', 'yaml')
  return `${get} > ${file} && "\${EDITOR:-vi}" ${file} && kubectl replace --force -f ${file}`
}

/** Sets a field of the pod's spec; undefined where it is immutable. */
export const specPatch = (
  { kind, target, namespace, specPath }: TemplateOwner,
  path: string,
  value: unknown,
  op: 'add' | 'replace' = 'replace',
): string | undefined =>
  kind === 'Pod' || kind === 'Job' ? undefined : jsonPatch(target, namespace, { op, path: `${specPath}${path}`, value })

/** Sets the image of a container; undefined for a Job, whose template is immutable. */
export const imageCommand = ({ kind, target, namespace }: TemplateOwner, container: string): string | undefined =>
  kind === 'Job' ? undefined : kubectl(namespace, 'set', 'image', target, `${container}=NEW_IMAGE`)
