// Files from the keys of an object: all keys, or the selected ones with their paths and modes.
import type { KeyToPath } from '../../../api/core/v1/volume/volume.ts'
import type { ProjectedFile } from '../../../machine/disk/disk.ts'
import { VolumeError } from '../contract/volume-type.ts'

export type Files = Map<string, ProjectedFile>

export interface KeySelection {
  readonly items: readonly KeyToPath[] | undefined
  readonly optional: boolean
  readonly defaultMode: number
  /** The object's name in error messages. */
  readonly word: 'config' | 'secret'
}

export function filesOfKeys(data: ReadonlyMap<string, Uint8Array>, choice: KeySelection): Files {
  const { items, optional, defaultMode, word } = choice
  if (items === undefined || items.length === 0)
    return new Map([...data].map(([key, content]) => [key, { content, mode: defaultMode }]))
  const files: Files = new Map()
  for (const { key, path, mode } of items) {
    const content = data.get(key)
    if (content !== undefined) files.set(path, { content, mode: mode ?? defaultMode })
    else if (!optional) throw new VolumeError(`references non-existent ${word} key: ${key}`)
  }
  return files
}
