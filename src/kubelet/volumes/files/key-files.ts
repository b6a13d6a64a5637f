// Files from the keys of an object: all keys, or the selected ones with their paths and modes.
import type { KeyToPath } from '../../../api/core/v1/volume/file-volume-sources.ts'
import type { ProjectedFile } from '../../../machine/disk/disk.ts'
import { VolumeError } from '../contract/volume-type.ts'

export type Files = Map<string, ProjectedFile>

/** The keys of an object that a volume refers to. */
export interface ObjectSource {
  readonly name: string
  readonly items: readonly KeyToPath[] | undefined
  readonly optional: boolean | undefined
}

interface KeySelection extends ObjectSource {
  readonly defaultMode: number
  /** The names of the object's kind in error messages: of the object, and of its keys. */
  readonly kind: string
  readonly word: 'config' | 'secret'
}

/** `data`: undefined if the object does not exist. */
export function filesOfKeys(
  data: ReadonlyMap<string, Uint8Array> | undefined,
  { name, items, optional = false, defaultMode, kind, word }: KeySelection,
): Files {
  if (data === undefined && !optional) throw new VolumeError(`${kind} ${JSON.stringify(name)} not found`)
  if (items === undefined || items.length === 0)
    return new Map([...(data ?? [])].map(([key, content]) => [key, { content, mode: defaultMode }]))
  const files: Files = new Map()
  for (const { key, path, mode } of items) {
    const content = data?.get(key)
    if (content !== undefined) files.set(path, { content, mode: mode ?? defaultMode })
    else if (!optional) throw new VolumeError(`references non-existent ${word} key: ${key}`)
  }
  return files
}
