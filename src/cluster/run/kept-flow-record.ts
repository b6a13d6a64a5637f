// The flow record across restarts: the last events are written to a file when a cluster stops, and are the beginning of the next record.
import type { FlowId, FlowRecorder, ReportedEvent } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import { type Span, recordNameBytes, spanOf } from '../../base/observability/span.ts'
import { reportedEventOf } from '../../api/coxswain/v1/flow-protocol.ts'
import type { Files } from '../../platform/files.ts'

const format = 'coxswain flow record 1'
/** With the longest texts, 20,000 events are larger. The newest ones are kept. */
const bytesMax = 16 * 1024 * 1024

interface KeptDeps {
  readonly files: Files
  readonly log: Log
}

/** Writes the last events. A failure is logged: the cluster stops all the same. */
export async function keepFlowRecord(
  path: string,
  flow: FlowRecorder,
  eventsMax: number,
  { files, log, random }: KeptDeps & { readonly random: Random },
): Promise<void> {
  const record = random.bytes(recordNameBytes).toHex()
  const nameOf = (id: FlowId): Span => flow.get(id)?.span ?? spanOf(record, id)
  const lines: string[] = []
  let bytes = 0
  for (let id = flow.last; id >= flow.oldest && lines.length < eventsMax; id = (id - 1) as FlowId) {
    const event = flow.get(id)
    if (event === undefined) continue
    const line = `${JSON.stringify(reportedEventOf(event, nameOf))}\n`
    bytes += line.length
    if (bytes > bytesMax) break
    lines.push(line)
  }
  try {
    await files.write(path, `${format}\n${lines.toReversed().join('')}`)
  } catch (error) {
    log.warn('the flow record was not kept', { path, error: errorText(error) })
  }
}

/** Records the kept events, before any others. A file that cannot be read is logged, and the record begins now. */
export async function readKeptFlowRecord(path: string, flow: FlowRecorder, { files, log }: KeptDeps): Promise<void> {
  try {
    const content = await files.read(path)
    if (content === undefined) return
    const [first, ...lines] = new TextDecoder('utf-8', { fatal: true }).decode(content).trimEnd().split('\n')
    if (first !== format) throw new Error('it has another format')
    const events = lines.map((line) => JSON.parse(line) as ReportedEvent)
    for (const event of events) flow.recordReported(event)
  } catch (error) {
    log.warn('the kept flow record cannot be read', { path, error: errorText(error) })
  }
}
