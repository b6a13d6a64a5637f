// Workers: threads for what would hold the event loop too long. Messages are structured clones.

/** The module of a thread beside another one, under the name that it has there: bundles hold .mjs files. */
export const threadModule = (name: string, beside: string): URL =>
  new URL(`./${name}${beside.endsWith('.ts') ? '.ts' : '.mjs'}`, beside)

export interface WorkerHandle<In, Out> {
  post(message: In): void
  /** Messages in the order in which the worker sent them; `ended` says why it stopped, undefined when it was asked to. */
  listen(onMessage: (message: Out) => void, onEnd: (error: Error | undefined) => void): void
  stop(): Promise<void>
}

export interface Workers {
  /** Starts the module in a thread of its own, with `data` as its start value. */
  start<In, Out>(module: URL, data: unknown): WorkerHandle<In, Out>
  /** Starts a thread with bounded memory that calls the module's export `run` with each message, and answers with its result. */
  offload<In, Out>(module: URL): WorkerHandle<In, Out>
}
