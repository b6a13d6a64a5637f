// The words of the actions on objects: their names, their results, and the kubectl commands with the same effect.
import type { DebugChoice } from '../../../calls/debug-container.ts'
import type { RolloutRevision } from '../../../calls/rollback.ts'
import { resourceId, type ClusterObject, type Resource } from '../../source/source.ts'

export type ActionKind =
  | 'cordon'
  | 'debug'
  | 'delete'
  | 'drain'
  | 'forward'
  | 'restart'
  | 'resume'
  | 'rollback'
  | 'scale'
  | 'suspend'
  | 'uncordon'

interface ActionTexts {
  readonly verb: string
  /** What is said when it is done: of one object, and of several. */
  readonly one: string
  readonly several: string
}

export const actionTexts: Readonly<Record<ActionKind, ActionTexts>> = {
  cordon: { verb: 'Cordon', one: 'is cordoned', several: 'are cordoned' },
  debug: { verb: 'Debug', one: 'has a debug container', several: 'have a debug container' },
  delete: { verb: 'Delete', one: 'is being deleted', several: 'are being deleted' },
  drain: { verb: 'Drain', one: 'is drained', several: 'are drained' },
  forward: { verb: 'Port-forward', one: 'is forwarded', several: 'are forwarded' },
  restart: { verb: 'Restart', one: 'restarts', several: 'restart' },
  resume: { verb: 'Resume', one: 'is resumed', several: 'are resumed' },
  rollback: { verb: 'Roll back', one: 'is rolled back', several: 'are rolled back' },
  scale: { verb: 'Scale', one: 'is scaled', several: 'are scaled' },
  suspend: { verb: 'Suspend', one: 'is suspended', several: 'are suspended' },
  uncordon: { verb: 'Uncordon', one: 'is uncordoned', several: 'are uncordoned' },
}

/** Names that are listed; further ones are counted. */
export const namesMax = 10

/** An action on objects of one resource. */
export interface ActionOn {
  readonly kind: ActionKind
  readonly resource: Resource
  readonly objects: readonly Pick<ClusterObject, 'metadata'>[]
  /** What was typed as the number of replicas, or as the port. */
  readonly number: string
  /** The revision that is chosen for a roll back. */
  readonly revision: RolloutRevision | undefined
  /** What is chosen for a debug container. */
  readonly debug: DebugChoice | undefined
}

/** As a user types it. */
export function commandOf({ kind, resource, objects, number, revision, debug }: ActionOn): string {
  const names = objects.slice(0, namesMax).map(({ metadata }) => metadata.name)
  const id = resourceId(resource)
  const namespace = objects[0]?.metadata.namespace
  const place = namespace === undefined ? '' : ` -n ${namespace}`
  const more = objects.length > namesMax ? ' …' : ''
  const objectNames = `${names.map((name) => `${id}/${name}`).join(' ')}${more}`
  switch (kind) {
    case 'cordon':
    case 'uncordon':
      return `kubectl ${kind} ${names.join(' ')}${more}`
    case 'debug':
      return `kubectl debug -it ${names.join(' ')} ${debugFlags(debug)}${place}`
    case 'delete':
      return `kubectl delete ${objectNames}${place}`
    case 'drain':
      return `kubectl drain ${names.join(' ')} --ignore-daemonsets --delete-emptydir-data --force`
    case 'forward':
      return `kubectl port-forward ${objectNames} :${number}${place}`
    case 'restart':
      return `kubectl rollout restart ${objectNames}${place}`
    case 'resume':
    case 'suspend':
      return `kubectl patch ${objectNames} -p '{"spec":{"suspend":${kind === 'suspend'}}}'${place}`
    case 'rollback':
      return `kubectl rollout undo ${objectNames}${revision === undefined ? '' : ` --to-revision=${revision.revision}`}${place}`
    case 'scale':
      return `kubectl scale ${objectNames} --replicas=${number}${place}`
    default:
      return kind satisfies never
  }
}

const debugFlags = ({ image, target }: DebugChoice = { image: '', target: '' }): string =>
  `--image=${image.trim()}${target === '' ? '' : ` --target=${target}`}`

/** What follows from an action by its kind; of a deletion and a drain it depends on other objects. */
export function consequencesOfKind(kind: ActionKind, { plural }: Pick<Resource, 'plural'>): readonly string[] {
  const isCronJob = plural === 'cronjobs'
  switch (kind) {
    case 'cordon':
      return ['No new pods are scheduled to it. Pods that run on it stay.']
    case 'debug':
      return [
        'A container is added to the pod, with a terminal to its shell. It cannot be removed: it ends with its shell, or with the pod.',
      ]
    case 'forward':
      return ['A browser cannot forward ports. The command does it until Ctrl-C, and prints the address.']
    case 'restart':
      return ['Its pods are replaced by new ones, as the update strategy says.']
    case 'resume':
      return [isCronJob ? 'It creates Jobs again, as its schedule says.' : 'Its pods are created again.']
    case 'suspend':
      return [isCronJob ? 'It creates no Jobs. Jobs that run continue.' : 'Its running pods are deleted.']
    case 'uncordon':
      return ['Pods are scheduled to it again.']
    case 'rollback':
      return ['Its pods are replaced by those of the revision, as the update strategy says.']
    case 'delete':
    case 'drain':
    case 'scale':
      return []
    default:
      return kind satisfies never
  }
}
