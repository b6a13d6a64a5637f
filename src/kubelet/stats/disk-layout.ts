// DiskLayout: which of the three file systems of a node are the same: that of pods and logs, that of images, and that of
// what containers write.

export type FileSystemName = 'node' | 'images' | 'containers'

/** By what the kernel numbers them with: equal numbers, one file system. */
export type DiskLayout = Readonly<Record<FileSystemName, number>>

export const singleFileSystem: DiskLayout = { node: 0, images: 0, containers: 0 }

/** What lies on the file system of that name. */
export function contentsOf(layout: DiskLayout, name: FileSystemName): Readonly<Record<FileSystemName, boolean>> {
  const isSame = (other: FileSystemName) => layout[other] === layout[name]
  return { node: isSame('node'), images: isSame('images'), containers: isSame('containers') }
}
