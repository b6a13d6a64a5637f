// The events of the attach/detach controller. Their messages are upstream's.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'

const failed = (message: string): EventNote => ({ type: 'Warning', reason: 'FailedAttachVolume', message })

export const attachedNote = (volume: string): EventNote => ({
  type: 'Normal',
  reason: 'SuccessfulAttachVolume',
  message: `AttachVolume.Attach succeeded for volume ${JSON.stringify(volume)} `,
})

export const attachFailedNote = (volume: string, message: string): EventNote =>
  failed(`AttachVolume.Attach failed for volume ${JSON.stringify(volume)} : ${message}`)

/** Pods in other namespaces are counted, not named. */
export function conflictNote(volume: string, waiting: Pod, users: readonly Pod[]): EventNote {
  return failed(`Waiting for detach for volume ${JSON.stringify(volume)} ${conflictText(waiting, users)}`)
}

function conflictText(waiting: Pod, users: readonly Pod[]): string {
  if (users.length === 0)
    return 'Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node'
  const names = users.filter((each) => namespaceOf(each) === namespaceOf(waiting)).map(({ metadata }) => metadata.name)
  const others = users.length - names.length
  const foreign = `${others} pod(s) in different namespaces`
  if (names.length === 0) return `Volume is already used by ${foreign}`
  return `Volume is already used by pod(s) ${names.join(', ')}${others === 0 ? '' : ` and ${foreign}`}`
}
