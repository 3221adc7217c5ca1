/**
 * The words of a text as people write down and programs hold those of a wallet: in lines or with signs between them, quoted, each with its
 * number. Numbers of at most two digits that stand alone are no words.
 */
export function writtenWords(text: string): string[] {
  return text.split(/[^\p{L}\p{M}\d]+/u).filter((word) => /\D|.{3}/.test(word))
}
