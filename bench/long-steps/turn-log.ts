// Loaded into a server: at each SIGUSR2 it prints the processor time of the longest turn of the event loop since the last one.
import { isMainThread } from 'node:worker_threads'
import { holdOf } from '../event-loop.ts'

if (isMainThread) {
  let longestMs = holdOf()
  process.on('SIGUSR2', () => {
    process.stderr.write(`longest turn ${longestMs().toFixed(1)} ms\n`)
    longestMs = holdOf()
  })
}
