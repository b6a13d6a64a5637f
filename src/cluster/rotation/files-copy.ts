// A copy of the published files beside the objects of the cluster. A server reads it before it can decrypt objects, and with them the
// Secret in which the files are published: it may have stopped before they brought a key that objects are encrypted with.
import type { Secret } from '../../api/core/v1/secret.ts'
import type { Store } from '../../store/store.ts'

/** Outside of the objects, so that it is never encrypted at rest. Its content is encrypted as that of the Secret is. */
const copyKey = '/coxswain/server-files'
const attemptsMax = 10

interface FilesCopy {
  /** The resourceVersion of the Secret, which never goes back. */
  readonly revision: number
  readonly data: NonNullable<Secret['data']>
}

/** Replaces an older copy. */
export async function keepFilesCopy(store: Store, published: Secret, signal: AbortSignal): Promise<void> {
  const revision = Number(published.metadata.resourceVersion)
  const value = new TextEncoder().encode(JSON.stringify({ revision, data: published.data ?? {} } satisfies FilesCopy))
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const stored = await store.get(copyKey, signal)
    const copy = stored && copyIn(stored.value)
    if (copy !== undefined && copy.revision >= revision) return
    const { kind } = await store.commit(
      {
        conditions: [{ key: copyKey, modRevision: stored?.modRevision ?? 0 }],
        operations: [{ kind: 'put', key: copyKey, value }],
      },
      signal,
    )
    if (kind === 'committed') return
  }
  throw new Error(`${copyKey} is changed by others all the time`)
}

/** Undefined where nothing was published yet. */
export async function findFilesCopy(store: Store, signal: AbortSignal): Promise<Pick<Secret, 'data'> | undefined> {
  const stored = await store.get(copyKey, signal)
  return stored && copyIn(stored.value)
}

function copyIn(value: Uint8Array): FilesCopy | undefined {
  try {
    const copy: unknown = JSON.parse(new TextDecoder().decode(value))
    return typeof copy === 'object' && copy !== null && 'revision' in copy ? (copy as FilesCopy) : undefined
  } catch {
    return undefined
  }
}
