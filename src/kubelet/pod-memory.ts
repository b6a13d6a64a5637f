// What the kubelet remembers of a pod between two looks. Losing it costs a retry, nothing more.

export interface PodMemory {
  /** Why a container waits, where the runtime cannot know. */
  readonly waiting: Map<string, { readonly reason: string; readonly message: string }>
  /** Containers whose start failed: how often, and when to try again. */
  readonly failures: Map<string, { readonly count: number; readonly untilMs: number }>
  /** What ended containers left as their last words, by id. */
  readonly lastWords: Map<string, string>
}

export const newMemory = (): PodMemory => ({ waiting: new Map(), failures: new Map(), lastWords: new Map() })
