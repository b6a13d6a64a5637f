// What can be done with an object besides reading and deleting it: which kinds are scaled, restarted and forwarded, and
// the kubectl command with the same effect, which is shown with the result.
import { qualifiedResource } from '../../../api/kind/kind.ts'
import { isScalable } from '../../calls/workload-kinds.ts'
import { isPod, type ObjectRef, type Resource } from './resources.ts'

/** kubectl selects a pod of a workload or of a Service. */
export const isForwardable = (resource: Resource): boolean =>
  isPod(resource) || isScalable(resource) || qualifiedResource(resource) === 'services'

export type WorkloadAction =
  | { readonly kind: 'delete'; readonly isNow: boolean }
  | { readonly kind: 'scale'; readonly replicas: number }
  | { readonly kind: 'restart' }
  | { readonly kind: 'forward'; readonly ports: string }

/** As a user types it. */
export function kubectlText({ resource, namespace, name }: ObjectRef, action: WorkloadAction): string {
  const place = namespace === '' ? '' : ` -n ${namespace}`
  const object = `${resource.singular}/${name}`
  switch (action.kind) {
    case 'delete':
      return `kubectl delete ${object}${action.isNow ? ' --now' : ''}${place}`
    case 'scale':
      return `kubectl scale ${object} --replicas=${action.replicas}${place}`
    case 'restart':
      return `kubectl rollout restart ${object}${place}`
    case 'forward':
      return `kubectl port-forward ${object} ${action.ports}${place}`
    default:
      return action satisfies never
  }
}

const portMax = 65_535

/** `8080:80`, `:80` for any free port, or `80`; kubectl also takes the name of a port. */
export function isPorts(text: string): boolean {
  const [, local = '', remote = ''] = /^(?:(\d*):)?([\w-]+)$/.exec(text.trim()) ?? []
  return remote !== '' && [local, remote].every((port) => !/^\d+$/.test(port) || Number(port) <= portMax)
}
