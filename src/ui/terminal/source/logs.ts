// followLogs: the logs of a container, or of all containers of a pod with their names. The newest lines are kept.
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { errorText } from '../../../base/observability/log.ts'
import type { TextSource } from '../state/views.ts'
import type { ListDeps } from './follow-list.ts'
import { jsonType, targetOf } from './server-api.ts'

const tailLines = '500'
export const linesMax = 5_000
/** A longer line is shown as several. */
export const lineCharactersMax = 16_384

export async function followLogs(
  { object, container, isPrevious }: Extract<TextSource, { kind: 'logs' }>,
  { api }: Pick<ListDeps, 'api'>,
  text: (lines: readonly string[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const { resource, namespace, name } = object
  const names =
    container === ''
      ? containersOf(await api.read(targetOf(resource, { namespace, name }), jsonType, signal))
      : [container]
  let lines: readonly string[] = []
  const add = (more: readonly string[]): void => {
    if (signal.aborted) return
    lines = [...lines, ...more].slice(-linesMax)
    text(lines)
  }
  add([])
  const followed = names.map(async (each) => {
    const prefix = names.length > 1 ? `[${each}] ` : ''
    const previous = isPrevious ? 'true' : undefined
    const query = { container: each, follow: isPrevious ? undefined : 'true', tailLines, previous }
    let rest = ''
    try {
      for await (const piece of api.stream(
        targetOf(resource, { namespace, name, subresource: 'log' }, query),
        '*/*',
        signal,
      )) {
        const complete = (rest + piece).split('\n')
        rest = complete.pop() ?? ''
        for (; rest.length > lineCharactersMax; rest = rest.slice(lineCharactersMax))
          complete.push(rest.slice(0, lineCharactersMax))
        if (complete.length > 0) add(complete.map((line) => prefix + line))
      }
      add([...(rest === '' ? [] : [prefix + rest]), `${prefix}(the log has ended)`])
    } catch (error) {
      add([`${prefix}(no log: ${errorText(error)})`])
    }
  })
  await Promise.all(followed)
}

function containersOf(pod: unknown): string[] {
  const { initContainers = [], containers, ephemeralContainers = [] } = (pod as Pod).spec
  return [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name)
}
