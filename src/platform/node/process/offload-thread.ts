// The thread of an OffloadedFunction: calls a module's `run` with each message and replies with the result. It has a low
// priority, because the event loop and TLS serve all clients, and this thread serves one with a long input.
import { parentPort, workerData } from 'node:worker_threads'
import { present } from '../../../base/assert.ts'
import { errorText } from '../../../base/observability/log.ts'
import type { OffloadReply } from '../../process/offloaded-function.ts'
import { lowerThreadPriority } from './thread-priority.ts'

const port = present(parentPort, 'the offload thread was started as a program')
lowerThreadPriority()
const { run } = (await import(workerData as string)) as { run: (input: unknown) => unknown }

port.on('message', (input: unknown) => {
  let reply: OffloadReply<unknown>
  try {
    reply = { value: run(input) }
  } catch (error) {
    reply = { error: errorText(error) }
  }
  port.postMessage(reply)
})
