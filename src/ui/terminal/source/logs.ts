// followLogs: the logs of a container, of all containers of a pod, or of all pods of a workload. The newest lines are kept.
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { isPod, type Resource } from '../state/resources.ts'
import type { TextSource } from '../state/views.ts'
import { followContainer, LogLines } from './container-log.ts'
import { containerNames } from './container-rows.ts'
import type { ListDeps } from './follow-list.ts'
import { jsonType, targetOf } from './server-api.ts'
import { followWorkloadLogs } from './workload-logs.ts'

export async function followLogs(
  source: Extract<TextSource, { kind: 'logs' }>,
  resources: readonly Resource[],
  deps: ListDeps,
  text: (lines: readonly string[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const { object, container, isPrevious } = source
  const log = new LogLines(text, signal)
  if (!isPod(object.resource)) return followWorkloadLogs(object, isPrevious, log, resources, deps, signal)
  const { resource, namespace, name } = object
  const names =
    container === ''
      ? containerNames((await deps.api.read(targetOf(resource, { namespace, name }), jsonType, signal)) as Pod)
      : [container]
  log.add([])
  const prefixOf = (each: string): string => (names.length > 1 ? `[${each}] ` : '')
  await Promise.all(
    names.map((each) =>
      followContainer({ pod: object, container: each, isPrevious, prefix: prefixOf(each) }, log, deps, signal),
    ),
  )
}
