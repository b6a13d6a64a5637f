// A line of a CRI log file: `2026-01-02T03:04:05.678901234Z stdout F content`.

export interface CriLine {
  readonly timestamp: string
  /** The printed bytes, with a line feed unless the line is partial. */
  readonly content: Uint8Array
  /** The line exceeded the runtime's buffer and continues in the next one. */
  readonly isPartial: boolean
}

const space = 0x20
const partialTag = 'P'
const fieldBytesMax = 64

/** Parses one line including its line feed; undefined when it is not in CRI's format. */
export function parseCriLine(line: Uint8Array): CriLine | undefined {
  const head = line.subarray(0, fieldBytesMax)
  const afterTime = head.indexOf(space)
  const afterStream = head.indexOf(space, afterTime + 1)
  const afterTags = head.indexOf(space, afterStream + 1)
  if (afterTime < 0 || afterStream < 0 || afterTags < 0) return undefined
  const [timestamp, stream, tags = ''] = new TextDecoder().decode(head.subarray(0, afterTags)).split(' ')
  if (timestamp === undefined || (stream !== 'stdout' && stream !== 'stderr')) return undefined
  const isPartial = tags.split(':')[0] === partialTag
  return { timestamp, content: line.subarray(afterTags + 1, isPartial ? -1 : undefined), isPartial }
}

/** The timestamp with nine fractional digits, as `kubectl logs --timestamps` shows it. */
export function fixedNanoseconds(timestamp: string): string {
  const [, seconds = timestamp, digits = '', zone = 'Z'] =
    /^([^.Z+]+?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(timestamp) ?? []
  return `${seconds}.${digits.padEnd(9, '0').slice(0, 9)}${zone}`
}
