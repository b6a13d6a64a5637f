// Raises the revision of an etcd that does not run, in the file of its member. etcdutl has this as `snapshot restore
// --bump-revision` since 3.6; with older versions only writes raise it, one revision each.
import { open } from 'node:fs/promises'

/** A revision as etcd's file has it: two big-endian integers, the second one counts the changes of a transaction. */
const revisionBytes = 17
/** That of an etcd without objects has a few pages. */
const fileBytesMax = 64 << 20

function encodedRevision(revision: number): Buffer {
  const bytes = Buffer.alloc(revisionBytes)
  bytes.writeBigUInt64BE(BigInt(revision), 0)
  bytes.write('_', 8, 'latin1')
  return bytes
}

/**
 * Gives the newest change, of one key, another revision. etcd's revision is that of its newest change. The order of keys in the
 * file stays. False if the change is not found; then nothing was written.
 */
export async function raiseNewestRevision(path: string, newest: number, to: number): Promise<boolean> {
  if (to <= newest) throw new Error(`revision ${to} is not above ${newest}`)
  await using file = await open(path, 'r+')
  const { size } = await file.stat()
  if (size > fileBytesMax) return false
  const content = await file.readFile()
  const found = positionsOf(content, encodedRevision(newest))
  if (found.length === 0) return false
  const raised = encodedRevision(to)
  // Also in pages that are not in use any more.
  for (const at of found) await file.write(raised, 0, raised.length, at)
  await file.sync()
  return true
}

function positionsOf(content: Buffer, wanted: Buffer): readonly number[] {
  const positions: number[] = []
  for (let at = content.indexOf(wanted); at >= 0; at = content.indexOf(wanted, at + 1)) positions.push(at)
  return positions
}
