import { Worker } from 'node:worker_threads'
import type { Workers } from '../workers.ts'

export const nodeWorkers: Workers = {
  start<In, Out>(module: URL, data: unknown) {
    const worker = new Worker(module, { workerData: data })
    let stopping = false
    return {
      post: (message: In) => worker.postMessage(message),
      listen(onMessage: (message: Out) => void, onEnd: (error: Error | undefined) => void) {
        let failure: Error | undefined
        worker.on('message', onMessage)
        worker.on('error', (error) => (failure = error as Error))
        worker.on('exit', (code) =>
          onEnd(stopping ? undefined : (failure ?? new Error(`the worker ended by itself with ${code}`))),
        )
      },
      async stop() {
        stopping = true
        await worker.terminate()
      },
    }
  },
}
