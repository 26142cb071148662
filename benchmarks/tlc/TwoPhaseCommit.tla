--------------------------- MODULE TwoPhaseCommit ---------------------------
(***************************************************************************)
(* The shipped system two_phase_commit as a specification: the same        *)
(* states, the same transitions.  After Gray and Lamport, "Consensus on    *)
(* Transaction Commit".  Messages that were sent stay.                     *)
(***************************************************************************)
EXTENDS Naturals

CONSTANT Size
VARIABLES phase, decision, prepared, announced

vars == <<phase, decision, prepared, announced>>
Manager == 1..Size

Init == /\ phase = [m \in Manager |-> "working"]
        /\ decision = "none"
        /\ prepared = {}     \* the resource managers that the transaction manager knows of
        /\ announced = {}    \* those that have sent `Prepared`

Prepare(m) == /\ phase[m] = "working"
              /\ phase' = [phase EXCEPT ![m] = "prepared"]
              /\ announced' = announced \cup {m}
              /\ UNCHANGED <<decision, prepared>>

ChooseToAbort(m) == /\ phase[m] = "working"
                    /\ phase' = [phase EXCEPT ![m] = "aborted"]
                    /\ UNCHANGED <<decision, prepared, announced>>

NotePrepared(m) == /\ decision = "none"
                   /\ m \in announced
                   /\ prepared' = prepared \cup {m}
                   /\ UNCHANGED <<phase, decision, announced>>

Decide(word) == /\ decision = "none"
                /\ word = "commit" => prepared = Manager
                /\ decision' = word
                /\ UNCHANGED <<phase, prepared, announced>>

Obey(m, word, end) == /\ decision = word
                      /\ phase' = [phase EXCEPT ![m] = end]
                      /\ UNCHANGED <<decision, prepared, announced>>

Next == \/ \E word \in {"commit", "abort"}: Decide(word)
        \/ \E m \in Manager: \/ Prepare(m)
                             \/ ChooseToAbort(m)
                             \/ NotePrepared(m)
                             \/ Obey(m, "commit", "committed")
                             \/ Obey(m, "abort", "aborted")

Spec == Init /\ [][Next]_vars

Consistent == ~ \E a, b \in Manager: phase[a] = "committed" /\ phase[b] = "aborted"
=============================================================================
