// DiskLayout: which of the node's three file systems are the same: nodefs, imagefs and containerfs.

export type FileSystemName = 'node' | 'images' | 'containers'

/** Device numbers; equal numbers mean the same file system. */
export type DiskLayout = Readonly<Record<FileSystemName, number>>

export const singleFileSystem: DiskLayout = { node: 0, images: 0, containers: 0 }

/** What is stored on a file system. */
export function contentsOf(layout: DiskLayout, name: FileSystemName): Readonly<Record<FileSystemName, boolean>> {
  const isSame = (other: FileSystemName) => layout[other] === layout[name]
  return { node: isSame('node'), images: isSame('images'), containers: isSame('containers') }
}
