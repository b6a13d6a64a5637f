// nodeInflateRaw: InflateRaw with zlib.
import { constants, inflateRawSync } from 'node:zlib'
import { InflateError, type InflateRaw } from '../inflate.ts'

export const nodeInflateRaw: InflateRaw = (data, { dictionary, outputBytesMax }) => {
  try {
    return inflateRawSync(data, {
      ...(dictionary.length > 0 ? { dictionary } : {}),
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: outputBytesMax,
    })
  } catch (error) {
    throw new InflateError(`inflate: ${(error as Error).message}`, { cause: error })
  }
}
