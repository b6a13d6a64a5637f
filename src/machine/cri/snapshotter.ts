// The snapshotter of the node's own containerd. overlayfs cannot be stacked, so a folder on overlayfs, as the file system of a
// container, needs copies.
export type Snapshotter = 'overlayfs' | 'native'

/** `directory` is absolute. `mounts` is the content of /proc/mounts, in which a later mount of a path hides earlier ones. */
export function snapshotterIn(directory: string, mounts: string): Snapshotter {
  const path = `${directory}/`
  let longest = -1
  let found: Snapshotter = 'overlayfs'
  for (const line of mounts.split('\n')) {
    const [, point = '', type] = line.split(' ')
    const place = unescaped(point)
    if (!path.startsWith(place.endsWith('/') ? place : `${place}/`) || place.length < longest) continue
    longest = place.length
    found = type === 'overlay' ? 'native' : 'overlayfs'
  }
  return found
}

/** The kernel writes a space as `\\040`. */
const unescaped = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
