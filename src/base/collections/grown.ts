type Numbers = Uint8Array | Uint32Array | Float32Array | Float64Array

/** The longer array with the numbers of the shorter one. */
export function grown<A extends Numbers>(shorter: A, longer: A): A {
  longer.set(shorter)
  return longer
}
