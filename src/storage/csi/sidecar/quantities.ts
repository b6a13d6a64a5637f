// Sizes of volumes as quantities, in the binary format that upstream's sidecars write.
import { quantityText, quantityUnits } from '../../../schema/scalar/quantity.ts'

export const bytesText = (bytes: number): string => quantityText(BigInt(bytes) * 1_000_000_000n, '1Ki')

/** The storage in a list of resources; 0 when absent. */
export const storageBytes = (resources: Readonly<Record<string, string>> | undefined): number =>
  quantityUnits(resources?.['storage'])
