// Situation: a broken cluster that users meet, as objects. The lab lets people repair it, and a test compares what `why` says
// about it.

/** An object as in a manifest. */
export interface ManifestObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly finalizers?: readonly string[]
  }
  readonly [field: string]: unknown
}

/** `<kind>/<name>` as it is typed, and its namespace; empty for cluster-scoped objects. */
export interface AskedObject {
  readonly object: string
  readonly namespace: string
}

export interface Situation {
  /** As it is typed: `coxswain lab crash-loop`. */
  readonly name: string
  /** What the user sees, as one sentence. */
  readonly story: string
  /** The object that does not work. */
  readonly asked: AskedObject
  /** A part of its explanation that is gone when it has been repaired. */
  readonly symptom: string
  /** Whether it is also repaired if the object does not exist any more. */
  readonly mayVanish?: true
  /** Applied in order. */
  readonly objects: readonly ManifestObject[]
  /** Deleted afterwards. */
  readonly deleted?: readonly AskedObject[]
  /** A request that is refused, of a ServiceAccount of the namespace default. */
  readonly refused?: { readonly account: string; readonly path: string }
  /** From vague to precise. */
  readonly hints: readonly string[]
}

export const defaultNamespace = 'default'

export const inDefault = (object: string): AskedObject => ({ object, namespace: defaultNamespace })
export const inCluster = (object: string): AskedObject => ({ object, namespace: '' })
